package antijoin_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

// model is the slow, obvious anti-join: everything in memory, one pass.
func model(objects []store.Info, protected map[string]bool, match func(lake.Key) antijoin.Match) []string {
	foreign := map[string]bool{}
	for _, o := range objects {
		parts := strings.Split(o.Name, "/")
		for i := 1; i+1 < len(parts); i++ {
			if root := strings.Join(parts[:i], "/"); (parts[i] == "_delta_log" || parts[i] == ".hoodie" ||
				i == len(parts)-2 && parts[i] == "metadata" && strings.HasSuffix(o.Name, ".metadata.json")) && !hidden(lake.Key(root)) {
				foreign[root] = true
			}
		}
	}
	var keys []string
next:
	for _, o := range objects {
		for root := range foreign {
			if strings.HasPrefix(o.Name, root+"/") {
				continue next
			}
		}
		if o.Kind == store.File && !hidden(lake.Key(o.Name)) && !protected[o.Name] && match(lake.Key(o.Name)) == antijoin.True && o.Modified.Before(cutoff) {
			keys = append(keys, o.Name)
		}
	}
	slices.Sort(keys)
	return keys
}

func TestJoinEqualsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkModel(t, protect) })
}

// A protected set that doesn't fit into memory gives the same answer.
func TestSpilledJoinEqualsTheModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		checkModel(t, func(keys ...lake.Key) *keyset.Set { return spilled(t, dir, keys) })
	})
}

// spilled returns a set that lies on disk: it holds many more keys.
func spilled(t rapid.TB, dir string, keys []lake.Key) *keyset.Set {
	b := keyset.NewBounded(dir, 1)
	for _, k := range keys {
		b.AddExpected(k)
	}
	for i := range 20_000 {
		b.Add(lake.Key(fmt.Sprintf("other/%d", i)))
	}
	set, err := b.Finish()
	if err != nil || !set.Spilled() {
		t.Fatalf("%v, spilled %v", err, set.Spilled())
	}
	return set
}

func checkModel(t *rapid.T, protect func(...lake.Key) *keyset.Set) {
	part := rapid.SampledFrom([]string{"a", "b", "p=1", "p=10", "_tmp", "_delta_log", ".hoodie", "metadata", "v1.metadata.json", "f\xff", "é", "x.parquet"})
	names := rapid.SliceOfDistinct(rapid.Map(rapid.SliceOfN(part, 1, 4), func(p []string) string { return strings.Join(p, "/") }), rapid.ID).Draw(t, "names")
	var objects []store.Info
	protected, keys := map[string]bool{}, []lake.Key{}
	for _, name := range names {
		objects = append(objects, store.Info{Name: name, Size: 1, Modified: cutoff.Add(time.Duration(rapid.IntRange(-2, 1).Draw(t, "age"))),
			Kind: rapid.SampledFrom([]store.EntryKind{store.File, store.File, store.File, store.Symlink}).Draw(t, "kind")})
		if rapid.IntRange(0, 2).Draw(t, "protected") == 0 {
			protected[name] = true
			keys = append(keys, lake.Key(name))
		}
	}
	match := func(k lake.Key) antijoin.Match { return antijoin.Match(len(k) % 3) }
	want := model(objects, protected, match)
	once := antijoin.Options{Protected: protect(keys...), Cutoff: cutoff, Hidden: hidden, Reason: orphan, Match: match}
	defer once.Protected.Close()
	single := antijoin.New(once)
	defer single.Close()
	if err := single.Batch(context.Background(), objects); err != nil {
		t.Fatal(err)
	}
	plain, err := single.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	repeats := rapid.Bool().Draw(t, "repeats")
	if repeats { // older rows of an object change nothing
		for _, o := range slices.Clone(objects) {
			for range rapid.IntRange(0, 2).Draw(t, "more rows") {
				o.Modified = o.Modified.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "older")))
				objects = append(objects, o)
			}
		}
		objects = rapid.Permutation(objects).Draw(t, "rows")
	}

	set := protect(keys...)
	defer set.Close()
	j := antijoin.New(antijoin.Options{Protected: set, Memory: rapid.Int64Range(1, 1<<20).Draw(t, "memory"), Cutoff: cutoff, Hidden: hidden, Reason: orphan, Match: match, Repeats: repeats})
	defer j.Close()
	var batches sync.WaitGroup
	for batch := range slices.Chunk(objects, rapid.IntRange(1, 5).Draw(t, "batch")) {
		batches.Go(func() {
			if err := j.Batch(context.Background(), batch); err != nil {
				panic(err)
			}
		})
	}
	batches.Wait()
	res, err := j.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for v, err := range res.Dead() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(v.Key))
	}
	if !slices.Equal(got, want) || res.Totals.Dead != int64(len(want)) {
		t.Fatalf("dead %q (%d), want %q; protected %q", got, res.Totals.Dead, want, slices.Sorted(maps.Keys(protected)))
	}
	if all, marked := set.Expected(); all != int64(len(keys)) || marked != all {
		t.Fatalf("%d of %d live files seen", marked, all)
	}
	if len(res.Foreign) > 0 { // what lies below a foreign root is counted by when the root shows
		plain.Totals.Candidates, plain.Totals.Foreign = res.Totals.Candidates, res.Totals.Foreign
		plain.Totals.Protected, plain.Totals.TooYoung = res.Totals.Protected, res.Totals.TooYoung
		plain.Totals.KeptUnknown, plain.Totals.Unmatched = res.Totals.KeptUnknown, res.Totals.Unmatched
	}
	if diff := cmp.Diff(plain.Totals, res.Totals); diff != "" {
		t.Fatal(diff)
	}
}
