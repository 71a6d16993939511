package antijoin_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

var cutoff = time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)

func old(days int) time.Time { return cutoff.AddDate(0, 0, -days) }

func protect(keys ...lake.Key) *keyset.Set {
	b := keyset.New()
	for _, k := range keys {
		b.AddExpected(k)
	}
	return b.Done()
}

// hidden is Delta's rule without partition columns.
func hidden(k lake.Key) bool {
	for name := range k.Components {
		if name != "" && (name[0] == '.' || name[0] == '_') {
			return true
		}
	}
	return false
}

func orphan(lake.Key) antijoin.Removal { return antijoin.Removal{Reason: lake.Orphan} }

func file(name string, modified time.Time) store.Info {
	return store.Info{Name: name, Size: int64(len(name)), Modified: modified}
}

// dead runs a join over batches of one object each and returns the dead keys, directories with a slash.
func dead(t testing.TB, o antijoin.Options, objects ...store.Info) ([]string, *antijoin.Result) {
	t.Helper()
	if o.Hidden == nil {
		o.Hidden = hidden
	}
	if o.Reason == nil {
		o.Reason = orphan
	}
	if o.Protected == nil {
		o.Protected = protect()
	}
	o.Cutoff = cutoff
	j := antijoin.New(o)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, info := range objects {
		if err := j.Batch(context.Background(), []store.Info{info}); err != nil {
			t.Fatal(err)
		}
	}
	return finish(t, j)
}

func finish(t testing.TB, j *antijoin.Join) ([]string, *antijoin.Result) {
	t.Helper()
	res, err := j.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := res.Close(); err != nil {
			t.Error(err)
		}
	})
	var keys []string
	for v, err := range res.Dead() {
		if err != nil {
			t.Fatal(err)
		}
		if v.Directory {
			v.Key += "/"
		}
		keys = append(keys, string(v.Key))
	}
	return keys, res
}

func TestWhatKeepsAnObject(t *testing.T) {
	for _, c := range []struct {
		rule   string
		object store.Info
		o      antijoin.Options
		dead   bool
		totals filelist.Totals
	}{
		{"old and unprotected is dead", file("a", old(1)), antijoin.Options{}, true,
			filelist.Totals{Candidates: 1, Dead: 1, DeadBytes: 1, ByReason: map[string]filelist.Count{"orphan": {Objects: 1, Bytes: 1}}}},
		{"protected", file("a", old(1)), antijoin.Options{Protected: protect("a")}, false, filelist.Totals{Candidates: 1, Protected: 1}},
		{"protected by the folded form", file("A", old(1)), antijoin.Options{Protected: protect("a"), CaseFolds: true}, false, filelist.Totals{Candidates: 1, Protected: 1}},
		{"another case is another object elsewhere", file("A", old(1)), antijoin.Options{Protected: protect("a")}, true,
			filelist.Totals{Candidates: 1, Dead: 1, DeadBytes: 1, ByReason: map[string]filelist.Count{"orphan": {Objects: 1, Bytes: 1}}}},
		{"modified at the cutoff", file("a", cutoff), antijoin.Options{}, false, filelist.Totals{Candidates: 1, TooYoung: 1}},
		{"modified after the cutoff", file("a", cutoff.Add(1)), antijoin.Options{}, false, filelist.Totals{Candidates: 1, TooYoung: 1}},
		{"maybe at the cutoff, within the store's resolution", file("a", cutoff.Add(-time.Second/2)), antijoin.Options{Grain: time.Second}, false, filelist.Totals{Candidates: 1, TooYoung: 1}},
		{"just before the cutoff", file("abc", cutoff.Add(-1)), antijoin.Options{Grain: 1}, true,
			filelist.Totals{Candidates: 1, Dead: 1, DeadBytes: 3, ByReason: map[string]filelist.Count{"orphan": {Objects: 1, Bytes: 3}}}},
		{"newer than the inventory's scan", file("a", old(1)), antijoin.Options{NotAfter: old(2)}, false, filelist.Totals{Candidates: 1, TooYoung: 1}},
		{"removed at or after the cutoff", file("a", old(1)), antijoin.Options{Reason: func(lake.Key) antijoin.Removal {
			return antijoin.Removal{Reason: lake.Tombstone, Time: cutoff}
		}}, false, filelist.Totals{Candidates: 1, TooYoung: 1}},
		{"hidden", file("a/_tmp/b", old(1)), antijoin.Options{}, false, filelist.Totals{}},
		{"the log", file("_delta_log/0.json", old(1)), antijoin.Options{}, false, filelist.Totals{}},
		{"a directory's marker", store.Info{Name: "a", Kind: store.Marker, Modified: old(1)}, antijoin.Options{}, false, filelist.Totals{}},
		{"a symlink", store.Info{Name: "a", Kind: store.Symlink, Modified: old(1)}, antijoin.Options{}, false, filelist.Totals{}},
		{"a device", store.Info{Name: "a", Kind: store.Other, Modified: old(1)}, antijoin.Options{}, false, filelist.Totals{}},
		{"of unknown partition", file("a", old(1)), antijoin.Options{Match: func(lake.Key) antijoin.Match { return antijoin.Unknown }}, false, filelist.Totals{Candidates: 1, KeptUnknown: 1}},
		{"of another partition", file("a", old(1)), antijoin.Options{Match: func(lake.Key) antijoin.Match { return antijoin.False }}, false, filelist.Totals{Candidates: 1, Unmatched: 1}},
		{"of unknown time", file("a", time.Time{}), antijoin.Options{}, false, filelist.Totals{Candidates: 1, KeptUnknown: 1}},
		{"of a time that a stat doesn't know either", file("a", time.Time{}), antijoin.Options{Stat: func(context.Context, string) (store.Info, error) {
			return store.Info{Name: "a"}, nil
		}}, false, filelist.Totals{Candidates: 1, KeptUnknown: 1}},
		{"gone when looked at", file("a", time.Time{}), antijoin.Options{Stat: func(context.Context, string) (store.Info, error) {
			return store.Info{}, fs.ErrNotExist
		}}, false, filelist.Totals{}},
		{"a symlink when looked at", file("a", time.Time{}), antijoin.Options{Stat: func(context.Context, string) (store.Info, error) {
			return store.Info{Name: "a", Kind: store.Symlink, Modified: old(1)}, nil
		}}, false, filelist.Totals{}},
		{"old when looked at", store.Info{Name: "a", Size: -1}, antijoin.Options{Stat: func(context.Context, string) (store.Info, error) {
			return file("abcd", old(1)), nil
		}}, true, filelist.Totals{Candidates: 1, Dead: 1, DeadBytes: 4, ByReason: map[string]filelist.Count{"orphan": {Objects: 1, Bytes: 4}}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			keys, res := dead(t, c.o, c.object)
			if got := len(keys) == 1; got != c.dead {
				t.Errorf("dead: %v, want %v", keys, c.dead)
			}
			if c.totals.ByReason == nil {
				c.totals.ByReason = map[string]filelist.Count{}
			}
			if diff := cmp.Diff(c.totals, res.Totals); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatOtherNamesLeadToStays(t *testing.T) {
	j := antijoin.New(antijoin.Options{Protected: protect(), Cutoff: cutoff, Hidden: hidden, Reason: orphan})
	defer j.Close()
	if err := j.Batch(t.Context(), []store.Info{file("a", old(1)), file("b", old(1))}); err != nil {
		t.Fatal(err)
	}
	j.Spare("a")
	j.Spare("elsewhere")
	res, err := j.Finish(t.Context())
	if err != nil || res.Totals.Dead != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	defer res.Close()
	for v, err := range res.Dead() {
		if err != nil || v.Key != "b" {
			t.Errorf("%q is dead (%v)", v.Key, err)
		}
	}
}

func TestLiveFilesAreSeenEvenWhereNothingIsACandidate(t *testing.T) {
	set := protect("_hidden/a", "x/b", "c")
	dead(t, antijoin.Options{Protected: set}, file("x/_delta_log/0.json", old(1)), file("_hidden/a", old(1)), file("x/b", old(1)), file("c", old(1)))
	if all, marked := set.Expected(); all != 3 || marked != 3 {
		t.Errorf("%d of %d seen", marked, all)
	}
}

func TestAStatThatFailsEndsTheJoin(t *testing.T) {
	broken := errors.New("broken")
	j := antijoin.New(antijoin.Options{Protected: protect(), Cutoff: cutoff, Hidden: hidden, Reason: orphan,
		Stat: func(context.Context, string) (store.Info, error) { return store.Info{}, broken }})
	defer j.Close()
	if err := j.Batch(t.Context(), []store.Info{{Name: "a"}}); !errors.Is(err, broken) {
		t.Fatalf("batch: %v", err)
	}
	if res, err := j.Finish(t.Context()); res != nil || !errors.Is(err, broken) {
		t.Errorf("finish: %v, %v", res, err)
	}
}

func TestOfRowsThatComeTwiceTheYoungestCounts(t *testing.T) {
	keys, res := dead(t, antijoin.Options{Repeats: true}, file("a", old(3)), file("b", old(1)), file("a", old(2)), file("a", old(4)))
	if !slices.Equal(keys, []string{"a", "b"}) || res.Totals.Dead != 2 || res.Totals.Candidates != 2 {
		t.Errorf("dead %q, %+v", keys, res.Totals)
	}
	for v := range res.Dead() {
		if v.Key == "a" && !v.Modified.Equal(old(2)) {
			t.Errorf("a of %v", v.Modified)
		}
	}
}

func TestARowThatSparesAnObjectSparesIt(t *testing.T) {
	for _, rows := range [][]store.Info{
		{file("a", old(3)), file("a", cutoff)},
		{file("a", cutoff), file("a", old(3))},
		{file("a", old(3)), file("a", old(3)), file("a", cutoff), file("a", cutoff)},
	} {
		keys, res := dead(t, antijoin.Options{Repeats: true}, rows...)
		if want := (filelist.Totals{Candidates: 1, TooYoung: 1, ByReason: map[string]filelist.Count{}}); len(keys) > 0 || !cmp.Equal(res.Totals, want) {
			t.Errorf("%v: dead %q, %+v", rows, keys, res.Totals)
		}
	}
}

func TestWhatIsKnownToBeAbsentIsNoCandidate(t *testing.T) {
	set := protect("live")
	keys, res := dead(t, antijoin.Options{Protected: set, Absent: func(lake.Key) bool { return true }}, file("a", old(3)), file("live", old(3)))
	if _, seen := set.Expected(); len(keys) > 0 || res.Totals.Candidates != 1 || res.Totals.Protected != 1 || seen != 1 {
		t.Errorf("dead %q, %+v, %d live files seen", keys, res.Totals, seen)
	}
}

func TestEmptyDirectories(t *testing.T) {
	dir := func(names ...string) []store.Info {
		var entries []store.Info
		for _, n := range names {
			if d, ok := strings.CutSuffix(n, "/"); ok {
				entries = append(entries, store.Info{Name: d, Kind: store.Dir})
			} else {
				entries = append(entries, store.Info{Name: n})
			}
		}
		return entries
	}
	type dirs map[string][]store.Info
	for _, c := range []struct {
		rule  string
		dirs  dirs
		young string
		o     antijoin.Options
		want  []string
	}{
		{"an old empty one dies, the root never", dirs{"": dir("a/"), "a": nil}, "", antijoin.Options{}, []string{"a/"}},
		{"a young one stays", dirs{"": dir("a/"), "a": nil}, "a", antijoin.Options{}, nil},
		{"nested ones die together", dirs{"a": dir("a/b/"), "a/b": dir("a/b/c/"), "a/b/c": nil}, "", antijoin.Options{}, []string{"a/", "a/b/", "a/b/c/"}},
		{"a young one keeps those above it", dirs{"a": dir("a/b/"), "a/b": nil}, "a/b", antijoin.Options{}, nil},
		{"a file keeps it", dirs{"a": dir("a/f")}, "", antijoin.Options{}, nil},
		{"a hidden file keeps it", dirs{"a": dir("a/.f")}, "", antijoin.Options{}, nil},
		{"a hidden directory, never entered, keeps it", dirs{"a": dir("a/_tmp/")}, "", antijoin.Options{}, nil},
		{"a hidden one stays", dirs{"_a": nil}, "", antijoin.Options{}, nil},
		{"a file deep below keeps all above", dirs{"a": dir("a/b/", "a/c/"), "a/b": nil, "a/c": dir("a/c/f")}, "", antijoin.Options{}, []string{"a/b/"}},
		{"with a predicate, none", dirs{"p=1": nil}, "", antijoin.Options{Match: func(lake.Key) antijoin.Match { return antijoin.True }}, nil},
		{"with a predicate, those below matched prefixes", dirs{"p=1": nil, "p=2": nil}, "", antijoin.Options{
			Match: func(lake.Key) antijoin.Match { return antijoin.True }, DirMatch: func(k lake.Key) bool { return k == "p=2" }}, []string{"p=2/"}},
		{"a protected one stays", dirs{"a": nil}, "", antijoin.Options{Protected: protect("a")}, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			o := c.o
			o.Hidden, o.Reason, o.Cutoff = hidden, orphan, cutoff
			if o.Protected == nil {
				o.Protected = protect()
			}
			o.Stat = func(_ context.Context, name string) (store.Info, error) {
				if name == c.young {
					return store.Info{Name: name, Kind: store.Dir, Modified: cutoff}, nil
				}
				return store.Info{Name: name, Kind: store.Dir, Modified: old(1)}, nil
			}
			j := antijoin.New(o)
			defer j.Close()
			for name, entries := range c.dirs {
				j.Directory(name, entries)
			}
			got, res := finish(t, j)
			if !slices.Equal(got, c.want) || res.Totals.DeadDirectories != int64(len(c.want)) || res.Totals.Dead != 0 {
				t.Errorf("dead %q, %+v, want %q", got, res.Totals, c.want)
			}
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	keys := make([]lake.Key, 100_000)
	objects := make([]store.Info, len(keys))
	for i := range keys {
		name := fmt.Sprintf("year=2023/month=07/day=%02d/hour=%02d/part-%05d-0a1b2c3d-4e5f-6789-abcd-ef0123456789.c000.snappy.parquet", i%28, i%24, i)
		keys[i] = lake.Key(name)
		objects[i] = file(name, old(1))
	}
	j := antijoin.New(antijoin.Options{Protected: protect(keys...), Cutoff: cutoff, Hidden: hidden, Reason: orphan})
	defer j.Close()
	for b.Loop() {
		for batch := range slices.Chunk(objects, 1000) {
			if err := j.Batch(context.Background(), batch); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(objects)*b.N)/b.Elapsed().Seconds(), "keys/s")
}

// A run that deletes has the Result for hours, and a protected set of its own.
func TestAResultDoesNotHoldTheProtectedSet(t *testing.T) {
	ctx := t.Context()
	join := func() (*antijoin.Result, weak.Pointer[keyset.Set]) {
		set := protect("a")
		j := antijoin.New(antijoin.Options{Protected: set, Hidden: hidden, Reason: orphan, Cutoff: cutoff, Repeats: true})
		j.Spare("link")
		j.Foreign("other")
		if err := j.Batch(ctx, []store.Info{file("a", old(1)), file("b", old(1)), file("other/c", old(1))}); err != nil {
			t.Fatal(err)
		}
		res, err := j.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return res, weak.Make(set)
	}
	res, set := join()
	for range 3 { // the pools of the runtime let go of what is theirs in the second
		runtime.GC()
	}
	if set.Value() != nil {
		t.Error("the set is still in memory")
	}
	var got []lake.Key
	for v, err := range res.Dead() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Key)
	}
	if err := res.Close(); err != nil || !slices.Equal(got, []lake.Key{"b"}) {
		t.Errorf("%q, %v", got, err)
	}
}
