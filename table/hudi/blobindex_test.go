package hudi

import (
	"maps"
	"slices"
	"testing"

	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
)

// The index finds what Hudi's own look-up finds, in both versions of sharding,
// and lacks what Hudi's lacks: a row that is there may be missing.
func TestIndexOfFixtures(t *testing.T) {
	asked := 0
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		if c.Expected.Secondary == nil {
			t.Skip("no secondary index")
		}
		table := openAt(t, c.Table, modelStart)
		for name, p := range c.Expected.Policies {
			want := map[string]bool{}
			for path, keys := range p.Blobs.Lookup {
				if len(keys) > 0 {
					want[path] = true
				}
			}
			x := &blobIndex{t: table}
			got, err := x.Alive(t.Context(), slices.Collect(maps.Keys(p.Blobs.Lookup)))
			if err != nil {
				t.Fatal(err)
			}
			asked += len(p.Blobs.Lookup)
			indexes, err := x.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(indexes) == 0 { // on a copy of the path, which isn't a reference
				continue
			}
			for path := range p.Blobs.Lookup {
				g, ok := got[path]
				if ok != want[path] {
					t.Errorf("%s: %s found: %t, Hudi: %v", name, path, ok, p.Blobs.Lookup[path])
				}
				if ok && !slices.ContainsFunc(slices.Collect(maps.Values(c.Expected.DataFiles)), func(f fixture.DataFile) bool { return f.FileID == g.FileID }) {
					t.Errorf("%s: no file group %v", path, g)
				}
			}
		}
	})
	if asked == 0 {
		t.Error("no index was asked")
	}
}
