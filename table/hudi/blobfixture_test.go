package hudi

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
)

// Of every file of every real table exactly the references are found that an
// independent reader finds, with and without the logical type, in every
// version; files and their state are those of the real table.
func TestReferencesOfFixtures(t *testing.T) {
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		table := openAt(t, c.Table, modelStart)
		var columns blob.Columns
		var err error
		if c.Expected.BlobColumn != "" {
			if columns, err = table.BlobColumns(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if typed := c.Expected.BlobKind == "blob"; typed != (len(columns) > 0) && c.Expected.BlobKind != "nested" {
				t.Errorf("blob columns %q of a table of kind %q", columns, c.Expected.BlobKind)
			}
		}
		got := map[string][]string{}
		o := table.BlobOptions()
		seen := map[string]bool{}
		files := func(yield func(blob.File, error) bool) {
			for f, err := range table.DataFiles(t.Context()) {
				if err == nil {
					seen[string(f.Key)] = true
				}
				if !yield(f, err) {
					return
				}
			}
		}
		err = blob.References(t.Context(), o, columns, files, func(f blob.File, r blob.Reference, _ bool) error {
			if r.OutOfLine && !r.Pending {
				text := fmt.Sprint(r.Path, " ", r.Managed)
				if k := string(f.Key); !slices.Contains(got[k], text) {
					got[k] = append(got[k], text)
				}
			}
			return nil
		}, func(f blob.File, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		for name, f := range c.Expected.DataFiles {
			if !seen[name] {
				t.Errorf("%s is not seen", name)
			}
			for _, r := range f.Refs {
				want[name] = append(want[name], fmt.Sprint(r[0], " ", r[1]))
			}
			slices.Sort(want[name])
			slices.Sort(got[name])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(seen) != len(c.Expected.DataFiles) {
			t.Errorf("%d files seen of %d", len(seen), len(c.Expected.DataFiles))
		}
	})
}
