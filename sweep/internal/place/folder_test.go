package place_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// A folder is told for a table's by the marks of any format, and one that holds
// none isn't, whatever else lies in it and however its listing is paged.
func TestAFolderIsTold(t *testing.T) {
	many := func(names ...string) []string {
		for i := range 40 {
			names = append(names, fmt.Sprintf("d/-%02d", i), fmt.Sprintf("d/Z%02d", i), fmt.Sprintf("d/a%02d", i), fmt.Sprintf("d/x%02d/y", i))
		}
		return names
	}
	for name, c := range map[string]struct {
		files        []string
		table, claim bool
	}{
		"none":                            {[]string{"d/x"}, false, false},
		"gone":                            {[]string{"e/x"}, false, false},
		"Delta":                           {[]string{"d/_delta_log/0.json"}, true, false},
		"Hudi":                            {[]string{"d/.hoodie/hoodie.properties"}, true, false},
		"Iceberg":                         {[]string{"d/metadata/v1.metadata.json"}, true, false},
		"a folder metadata that is none":  {[]string{"d/metadata/x.json"}, false, false},
		"a claim":                         {[]string{"d/.claim"}, false, true},
		"marks below":                     {[]string{"d/t/_delta_log/0.json", "d/t/.hoodie/x", "d/t/metadata/v1.metadata.json"}, false, false},
		"marks beside":                    {[]string{"d/x", "d2/_delta_log/0.json", "d.hoodie/x"}, false, false},
		"names like marks":                {[]string{"d/_delta_logs/x", "d/.hoodie2/x", "d/metadata2/v1.metadata.json"}, false, false},
		"none among many":                 {many(), false, false},
		"Delta among many":                {many("d/_delta_log/0.json"), true, false},
		"Hudi among many":                 {many("d/.hoodie/hoodie.properties"), true, false},
		"Iceberg among many":              {many("d/metadata/v1.metadata.json"), true, false},
		"a claim among many":              {many("d/.claim"), false, true},
		"an Iceberg table's many objects": {many("d/metadata/00000-a.avro", "d/metadata/v2.metadata.json"), true, false},
	} {
		for _, page := range []int{0, 1, 2, 7, 45, 90, 1000} { // 0: a local disk
			t.Run(fmt.Sprint(name, ", pages of ", page), func(t *testing.T) {
				var r store.Reader
				if page == 0 {
					dir, _ := tree(t, c.files...)
					s, err := local.Open(t.Context(), lake.Root{Scheme: "file", Path: dir[1:]})
					if err != nil {
						t.Fatal(err)
					}
					r = s
				} else {
					traits := mem.Default()
					traits.PageSize = page
					s := mem.New(mem.Options{Traits: traits})
					for _, name := range c.files {
						s.Put(name, nil, time.Time{})
					}
					r = s
				}
				table, claim, err := place.LookAt(t.Context(), r, "d/", ".claim")
				if err != nil || table != c.table || c.claim && !claim {
					t.Errorf("a table: %t, a claim: %t, %v", table, claim, err)
				}
				if page == 1000 && claim != c.claim {
					t.Error("a claim that the page doesn't show")
				}
			})
		}
	}
}

// backwards lists a folder from its end, as directory buckets do in no order.
type backwards struct{ store.Reader }

func (b backwards) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	var all []store.Info
	for e, err := range store.Folder(ctx, b.Reader, req.Prefix) {
		if err != nil {
			return store.Page{}, err
		}
		all = append(all, e)
	}
	slices.Reverse(all)
	from, _ := strconv.Atoi(req.Token)
	p := store.Page{Entries: all[from:min(from+2, len(all))]}
	if from+2 < len(all) {
		p.Next = strconv.Itoa(from + 2)
	}
	return p, nil
}

// What a page doesn't show may be on the next, in whatever order they come.
func TestAFolderOfAStoreThatSortsNothingIsTold(t *testing.T) {
	for _, mark := range []string{"d/_delta_log/0.json", "d/.hoodie/hoodie.properties", "d/metadata/v1.metadata.json", "d/.claim"} {
		s := mem.New(mem.Options{})
		for _, name := range []string{mark, "d/x", "d/y", "d/z"} {
			s.Put(name, nil, time.Time{})
		}
		table, claim, err := place.LookAt(t.Context(), backwards{s}, "d/", ".claim")
		if err != nil || mark != "d/.claim" && !table || mark == "d/.claim" && !claim {
			t.Errorf("%s: a table: %t, a claim: %t, %v", mark, table, claim, err)
		}
	}
}

// A folder that one page shows whole takes one request, and one more where it
// may be an Iceberg table's.
func TestAFolderTakesFewRequests(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  int64
	}{
		"few blobs":         {[]string{"d/a", "d/b"}, 1},
		"a Hudi table":      {[]string{"d/.hoodie/x", "d/metadata/x"}, 1},
		"a folder metadata": {[]string{"d/metadata/x"}, 2},
		"more than a page":  {[]string{"d/a", "d/b", "d/c", "d/d"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			traits := mem.Default()
			traits.PageSize = 3
			s := mem.New(mem.Options{Traits: traits})
			for _, name := range c.files {
				s.Put(name, nil, time.Time{})
			}
			var m store.Meter
			if _, _, err := place.LookAt(context.Background(), m.Wrap(s), "d/", ".claim"); err != nil {
				t.Fatal(err)
			}
			if u := m.Usage(); u.List.Requests != c.want || u.Stat.Requests+u.Open.Requests > 0 {
				t.Errorf("%+v, want %d lists", u, c.want)
			}
		})
	}
}
