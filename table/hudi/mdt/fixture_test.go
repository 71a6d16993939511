package mdt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func open(t *testing.T, r store.Reader) *Table {
	t.Helper()
	p, err := timeline.ReadProperties(t.Context(), r, ".hoodie")
	if err != nil {
		t.Fatal(err)
	}
	if !Available(p) {
		t.Skip("no metadata table")
	}
	layout, dir := timeline.Layout1, ".hoodie"
	if p["hoodie.timeline.layout.version"] == "2" {
		layout, dir = timeline.Layout2, ".hoodie/timeline"
	}
	tl, err := timeline.Load(t.Context(), r, dir, layout)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), r, Data{p, tl})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// listing returns the listing of all partitions.
func listing(t *testing.T, m *Table) map[string]int64 {
	t.Helper()
	f, err := m.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	partitions, err := f.Partitions()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, p := range partitions {
		files, err := f.Partition(p)
		if err != nil {
			t.Fatal(err)
		}
		for name, size := range files {
			if p != "" {
				name = p + "/" + name
			}
			got[name] = size
		}
	}
	return got
}

// The listing of every real table is its folder, before and after Hudi's
// own cleans.
func TestListingEqualsFolder(t *testing.T) {
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		m := open(t, c.Table)
		if err := m.Trust(); err != nil {
			t.Error(err)
		}
		want := map[string]int64{}
		for name, f := range c.Expected.DataFiles {
			want[name] = f.Size
		}
		if diff := cmp.Diff(want, listing(t, m)); diff != "" {
			t.Error(diff)
		}
		for policy, p := range c.Expected.Policies {
			if c.Answers[policy] == nil {
				continue
			}
			after := mem.New(mem.Options{})
			for _, s := range []*mem.Store{c.Table, c.Answers[policy]} {
				copyMeta(t, after, s)
			}
			left := map[string]int64{}
			for name, size := range want {
				left[name] = size
			}
			for _, name := range p.Deleted {
				delete(left, name)
			}
			m := open(t, after)
			if err := m.Trust(); err != nil {
				t.Error(policy, err)
			}
			if diff := cmp.Diff(left, listing(t, m)); diff != "" {
				t.Errorf("after %s: %s", policy, diff)
			}
		}
	})
}

func copyMeta(t *testing.T, to, from *mem.Store) {
	t.Helper()
	for _, name := range from.Names() {
		if strings.HasPrefix(name, ".hoodie/") {
			to.Put(name, read(t, from, name), modified(t, from, name))
		}
	}
}

// What a writer has not completed is invisible, and a completed write that the
// metadata table lacks makes it unfit.
func TestTrust(t *testing.T) {
	files := fixture.Files(t)
	for _, file := range files {
		if !strings.Contains(file, "cow_v9_part.") {
			continue
		}
		c := fixture.Load(t, file)
		m := open(t, c.Table)
		writes := m.data.Timeline.Writes()
		last := writes[len(writes)-1]
		i, ok := m.Timeline.Find(last.Time, timeline.DeltaCommit)
		if !ok {
			t.Fatal("no delta commit for the last write")
		}
		completed := m.Timeline.Dir + "/" + i.Files[timeline.Completed]
		if err := c.Table.Remove(t.Context(), completed, ""); err != nil {
			t.Fatal(err)
		}
		if err := open(t, c.Table).Trust(); lake.KindOf(err) != lake.Refused {
			t.Errorf("trusts a table without the last write: %v", err)
		}
		before := len(listing(t, m))
		if after := len(listing(t, open(t, c.Table))); after >= before {
			t.Errorf("%d files of %d are listed without the last write", after, before)
		}
	}
}
