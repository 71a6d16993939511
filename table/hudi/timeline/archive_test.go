package timeline

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/store/mem"
)

// The manifest counts that _version_ says, whatever later ones a crash left; the
// latest where that file is missing or says nothing, as Hudi has it.
func TestWhichManifestCounts(t *testing.T) {
	for rule, c := range map[string]struct {
		version   *string
		manifests int
		want      string // archived instants; "none": no archive
		fails     bool
	}{
		"the one that the version says":  {new("2"), 3, "1 2", false},
		"with a line's end":              {new("2\n"), 3, "1 2", false},
		"no version: the latest":         {nil, 3, "1 2 3", false},
		"an empty version: the latest":   {new(""), 3, "1 2 3", false},
		"a huge version: the latest":     {new("99999999999999999999999"), 3, "1 2 3", false},
		"no manifest":                    {nil, 0, "none", false},
		"a version without its manifest": {new("7"), 3, "", true},
	} {
		s := mem.New(mem.Options{})
		var files []string
		for n := 1; n <= c.manifests; n++ {
			var data bytes.Buffer
			if err := parquet.Write(&data, []archivedInstant{{fmt.Sprint(n), "9"}}); err != nil {
				t.Fatal(err)
			}
			s.Put(fmt.Sprintf("h/%d.parquet", n), data.Bytes(), time.Time{})
			files = append(files, fmt.Sprintf(`{"fileName":"%d.parquet","fileLen":1}`, n))
			s.Put(fmt.Sprintf("h/manifest_%d", n), []byte(`{"files":[`+strings.Join(files, ",")+`]}`), time.Time{})
		}
		if c.version != nil {
			s.Put("h/_version_", []byte(*c.version), time.Time{})
		}
		a, err := LoadArchive(t.Context(), s, "h")
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", rule, err)
		}
		if err != nil {
			continue
		}
		got := strings.Join(slices.Sorted(maps.Keys(a.Completion)), " ")
		if !a.Known {
			got = "none"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", rule, got, c.want)
		}
	}
}
