package delta_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// crowded is a log of several thousand files in a checkpoint whose row groups
// have so many rows: live ones, with deletion vectors too, some of which went
// after the checkpoint, tombstones, and removals that only old commits know,
// some of them of paths that were removed twice from different partitions.
func crowded(t *testing.T, rowGroup int) (f *fixture, all []lake.Key) {
	f = newFixture(t)
	f.Partition("p")
	var first, second, third, last []deltatest.Action
	for i := range 5000 {
		path := fmt.Sprintf("p=%d/f%04d", i%7, i)
		all = append(all, lake.Key(path))
		values := map[string]*string{"p": deltatest.Value(fmt.Sprint(i % 7))}
		first = append(first, deltatest.NewAdd(path, int64(i)).WithValues(values))
		switch {
		case i%5 == 0: // forgotten by the checkpoint
			second = append(second, deltatest.NewRemove(path, day(1)).WithValues(values))
			if i%10 == 0 { // and back in another partition, for a while
				values = map[string]*string{"p": deltatest.Value("other")}
				third = append(third, deltatest.NewAdd(path, int64(i)).WithValues(values))
				last = append(last, deltatest.NewRemove(path, day(40)).WithValues(values))
			}
		case i%5 == 1:
			third = append(third, deltatest.NewRemove(path, day(30)).WithValues(values))
		case i%5 == 2:
			dv, file := deltatest.UUIDVector("", uint64(i), -1)
			all = append(all, lake.Key(file))
			third = append(third, deltatest.NewRemove(path, day(30)).WithValues(values), deltatest.NewAdd(path, int64(i)).WithValues(values).WithDV(dv))
		case i%5 == 3 && i%2 == 0:
			last = append(last, deltatest.NewRemove(path, day(40)).WithValues(values))
		}
	}
	f.Commit(day(0), first...)
	f.Commit(day(1), second...)
	f.Commit(day(30), third...)
	f.Checkpoint(2, day(30), deltatest.Checkpoint{Keep: day(20), RowGroup: rowGroup})
	f.Commit(day(40), last...)
	return f, all
}

// told is all that a Protection says of some keys.
type told struct {
	Files, Bytes, Outside, DVs, Expected int64
	Partitions                           []delta.PartitionDirs
	Has, Expects                         []bool
	Removed                              []delta.Removed
}

func ask(p *delta.Protection, keys []lake.Key) told {
	a := told{Files: p.LiveFiles, Bytes: p.LiveBytes, Outside: p.OutsideFiles, DVs: p.LiveDVs, Partitions: p.Partitions}
	a.Expected, _ = p.Set.Expected()
	for _, k := range keys {
		r, _ := p.Removed(k)
		a.Has, a.Expects, a.Removed = append(a.Has, p.Set.Has(k)), append(a.Expects, p.Set.Expects(k)), append(a.Removed, r)
	}
	return a
}

// TestProtectionIsTheSameForAnyNumberOfWorkers reads one table with one row
// group and with many, by as many workers as there are row groups and by fewer
// and more.
func TestProtectionIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	var want told
	for _, rowGroup := range []int{100_000, 2500, 100} {
		f, all := crowded(t, rowGroup)
		for _, workers := range []int{1, 9, 0} {
			for _, processors := range []int{1, 4} {
				runtime.GOMAXPROCS(processors)
				tab, err := delta.Open(t.Context(), store.ReadOnly(f.s), f.root, delta.Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: day(35), Partitions: true,
					Expect: func(k lake.Key) bool { return len(k)%3 > 0 }, ExpectIn: func(dir lake.Key) bool { return dir != "p=3" }})
				if err != nil {
					t.Fatal(err)
				}
				got := ask(p, all)
				if want.Files == 0 {
					want = got
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("row groups of %d, %d workers, %d processors (-want +got)\n%s", rowGroup, workers, processors, d)
				}
			}
		}
	}
	if want.Files != 2500 || want.DVs != 1000 || !slices.Contains(want.Has, false) || want.Expected == 0 || want.Expected == want.Files+want.DVs {
		t.Errorf("%d files, %d vectors, %d expected: the table proves little", want.Files, want.DVs, want.Expected)
	}
}

// TestAFaultInALargeCheckpointStopsAllWorkers has a path that can't be read in
// the middle of a row group.
func TestAFaultInALargeCheckpointStopsAllWorkers(t *testing.T) {
	f := newFixture(t)
	var adds []deltatest.Action
	for i := range 20_000 {
		adds = append(adds, deltatest.NewAdd(fmt.Sprintf("f%05d", i), 1))
	}
	adds[9000] = deltatest.NewAdd("bad%zz", 1)
	f.Commit(day(0), adds...)
	f.Checkpoint(0, day(0), deltatest.Checkpoint{RowGroup: len(adds) * 2})
	f.refused(t, lake.Damaged, day(50))
}

// TestAnInterruptedReplayIsNoCorruptCheckpoint cancels while the rows of a
// large row group are handed out.
func TestAnInterruptedReplayIsNoCorruptCheckpoint(t *testing.T) {
	f, _ := crowded(t, 100_000)
	tab := f.mustOpen(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := tab.Protect(ctx, delta.ProtectRequest{Cutoff: day(35), Expect: func(lake.Key) bool { cancel(); return true }})
	if err == nil || lake.KindOf(err) != lake.Interrupted {
		t.Errorf("%v (%v)", err, lake.KindOf(err))
	}
	if w := tab.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}

// TestANarrowSetLacksOtherDirectoriesOnly compares a narrow set with a whole
// one: it says the same of what lies where something is expected, and every
// count is the same. On stores that fold case nothing is left out.
func TestANarrowSetLacksOtherDirectoriesOnly(t *testing.T) {
	f, all := crowded(t, 100_000)
	inside := func(dir lake.Key) bool { return dir == "p=3" || dir == "" }
	req := delta.ProtectRequest{Cutoff: day(35), Partitions: true, ExpectIn: inside, KeepVersions: []int64{1}, Keep: keys("p=3/mine", "p=4/mine")}
	all = append(all, "p=3/mine", "p=4/mine")
	whole := f.protect(t, req)
	req.Narrow = true
	narrow := f.protect(t, req)
	req.CaseFold = true
	folded := f.protect(t, req)
	left := 0
	for _, k := range all {
		if inside(k.Dir()) && narrow.Set.Has(k) != whole.Set.Has(k) || narrow.Set.Expects(k) != whole.Set.Expects(k) {
			t.Fatalf("%q: narrow %v, whole %v", k, narrow.Set.Has(k), whole.Set.Has(k))
		}
		if whole.Set.Has(k) && !narrow.Set.Has(k) {
			left++
		}
		if folded.Set.Has(k) != whole.Set.Has(k) {
			t.Fatalf("%q with folded case: %v, whole %v", k, folded.Set.Has(k), whole.Set.Has(k))
		}
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
	of := func(p *delta.Protection) told {
		a := ask(p, nil)
		for _, k := range all {
			r, _ := p.Removed(k)
			a.Removed = append(a.Removed, r)
		}
		return a
	}
	if d := cmp.Diff(of(whole), of(narrow)); d != "" {
		t.Errorf("counts and removals (-whole +narrow)\n%s", d)
	}
}
