package antijoin_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

func TestForeignTablesAreLeftAloneWhereverTheyShow(t *testing.T) {
	for _, mark := range []store.Info{
		file("x/_delta_log/0.json", old(1)), file("x/.hoodie/hoodie.properties", old(1)), file("x/metadata/v1.metadata.json", old(1)), file("x/metadata/v1.metadata.json.gz", old(1)),
		{Name: "x/_delta_log", Kind: store.Dir}, {Name: "x/.hoodie", Kind: store.Marker},
	} {
		others := []store.Info{file("x/a", old(1)), file("x/p/b", old(1)), file("x0", old(1)), file("y/a", old(1))}
		for at := range len(others) + 1 {
			keys, res := dead(t, antijoin.Options{}, slices.Insert(slices.Clone(others), at, mark)...)
			if want := []string{"x0", "y/a"}; !slices.Equal(keys, want) {
				t.Errorf("%s at %d: dead %q, want %q", mark.Name, at, keys, want)
			}
			if res.Totals.Dead != 2 || !slices.Equal(res.Foreign, []string{"x"}) {
				t.Errorf("%s at %d: %d dead, foreign %q", mark.Name, at, res.Totals.Dead, res.Foreign)
			}
		}
	}
}

// An excerpt shows no marks: it is asked where its dead rows lie, unless it
// turns out to be whole.
func TestAnExcerptIsAskedForTablesInside(t *testing.T) {
	for _, whole := range []bool{false, true} {
		var asked atomic.Int64
		o := antijoin.Options{Inside: func(_ context.Context, dir lake.Key) (lake.Key, bool, error) {
			asked.Add(1)
			return "x", dir.Below("x") || dir == "x", nil
		}}
		objects := []store.Info{file("x/p/a", old(1)), file("x/p/b", old(1)), file("y/a", old(1)), file("z", old(1))}
		want := []string{"y/a", "z"}
		if whole {
			objects, want = append(objects, file("_delta_log/00000000000000000000.json", old(1))), []string{"x/p/a", "x/p/b", "y/a", "z"}
		}
		keys, res := dead(t, o, objects...)
		if !slices.Equal(keys, want) || int(res.Totals.Dead) != len(want) || whole != (asked.Load() == 0) {
			t.Errorf("whole %v: dead %q (%d), asked %d times; want %q", whole, keys, res.Totals.Dead, asked.Load(), want)
		}
	}
}

func TestNamesThatAreNoForeignTable(t *testing.T) {
	for _, name := range []string{"_delta_log/0.json", "metadata/v1.metadata.json", "x/metadata/deep/v1.metadata.json", "x/v1.metadata.json", "x/_delta_log", "_tmp/x/_delta_log/0.json"} {
		_, res := dead(t, antijoin.Options{}, file(name, old(1)))
		if len(res.Foreign) > 0 {
			t.Errorf("%s: foreign %q", name, res.Foreign)
		}
	}
}
