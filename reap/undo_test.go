package reap_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func (w *world) undo() reap.Undo {
	w.t.Helper()
	j, err := filelist.OpenJournal(context.Background(), w.log(), filelist.JournalHead{PlanID: w.head.PlanID, Table: w.head.Table, Quarantine: shelf.String()})
	if err != nil {
		w.t.Fatal(err)
	}
	return reap.Undo{Journal: j, Quarantine: w.through(w.shelf), Table: w.through(w.table), Now: clock,
		Outcome: func(o reap.Outcome) { w.outcomes[string(o.Key)] = o.Outcome }}
}

// quarantined is a world whose dead files were moved away.
func quarantined(t *testing.T, dead ...string) *world {
	w := newWorld(t, mem.Default(), dead...)
	w.opt.Quarantine = &reap.Quarantine{Root: shelf}
	res, err := w.apply(t.Context(), w.cleared())
	if err != nil || res.Quarantined != int64(len(dead)) || res.Deleted != 0 || res.Bytes != 0 || !res.Complete {
		t.Fatalf("%+v, %v", res, err)
	}
	if w.record.result.Deleted != int64(len(dead)) {
		t.Errorf("the table's log was told of %+v", w.record.result)
	}
	w.sound()
	return w
}

func TestQuarantineMovesEachObjectUnderItsKey(t *testing.T) {
	w := quarantined(t, "a", "p=1/b")
	if names := w.shelf.Names(); !slices.Equal(names, []string{"a", "p=1/b"}) || len(w.left()) > 0 {
		t.Errorf("in quarantine %q, left %q", names, w.left())
	}
}

func TestRestorePutsBackOnlyWhereNothingStands(t *testing.T) {
	w := quarantined(t, "a", "b", "c")
	w.table.Put("b", []byte("new"), now)
	done, err := reap.Restore(t.Context(), w.undo())
	if err != nil || done.Restored != 2 || done.Spared != 1 || done.Bytes != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	if b, err := w.table.Stat(t.Context(), "b"); err != nil || b.Size != 3 {
		t.Errorf("b: %+v, %v", b, err)
	}
	if names := w.shelf.Names(); !slices.Equal(names, []string{"b"}) {
		t.Errorf("still in quarantine: %q", names)
	}
	if done, err := reap.Restore(t.Context(), w.undo()); err != nil || done.Restored != 0 || done.Spared != 1 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

func TestRestoreNamedObjectsAlone(t *testing.T) {
	w := quarantined(t, "a", "p=1/b")
	done, err := reap.Restore(t.Context(), w.undo(), "p=1/b")
	if err != nil || done.Restored != 1 || !slices.Equal(w.left(), []string{"p=1/b"}) {
		t.Errorf("%+v, %v, %q", done, err, w.left())
	}
	if _, err := reap.Restore(t.Context(), w.undo(), "a", "x"); lake.KindOf(err) != lake.Invalid || err == nil {
		t.Errorf("a name that isn't there: %v", err)
	}
	if !slices.Contains(w.left(), "a") {
		t.Error("a was named and is not back")
	}
}

func TestRestoreTakesChecksumsAlong(t *testing.T) {
	w := newWorld(t, mem.Default(), "p=1/a", "p=1/b")
	w.table.Put("p=1/.a.crc", nil, now)
	w.opt.Quarantine, w.opt.Checksums = &reap.Quarantine{Root: shelf}, true
	if _, err := w.apply(t.Context(), w.cleared()); err != nil {
		t.Fatal(err)
	}
	if names := w.shelf.Names(); !slices.Equal(names, []string{"p=1/.a.crc", "p=1/a", "p=1/b"}) {
		t.Errorf("in quarantine: %q", names)
	}
	done, err := reap.Restore(t.Context(), w.undo(), "p=1/a")
	if err != nil || done.Restored != 1 || !slices.Equal(w.shelf.Names(), []string{"p=1/b"}) {
		t.Errorf("%+v, %v, in quarantine %q", done, err, w.shelf.Names())
	}
}

func TestARestoredObjectIsKeptByTheSamePlan(t *testing.T) {
	w := newWorld(t, mem.Default(), "a", "b")
	w.opt.Quarantine = &reap.Quarantine{Root: shelf}
	cleared := w.cleared()
	if _, err := w.apply(t.Context(), cleared); err != nil {
		t.Fatal(err)
	}
	if _, err := reap.Restore(t.Context(), w.undo(), "a"); err != nil {
		t.Fatal(err)
	}
	res, err := w.apply(t.Context(), cleared)
	if err != nil || res.Spared != 1 || res.Quarantined != 1 || !slices.Equal(w.left(), []string{"a"}) {
		t.Errorf("%+v, %v, left %q", res, err, w.left())
	}
}

func TestPurgeDeletesWhatIsOldEnough(t *testing.T) {
	w := quarantined(t, "a", "b")
	done, err := reap.Purge(t.Context(), w.undo(), now)
	if err != nil || done.Purged != 0 || len(w.shelf.Names()) != 2 {
		t.Errorf("too young: %+v, %v", done, err)
	}
	if _, err := reap.Restore(t.Context(), w.undo(), "a"); err != nil {
		t.Fatal(err)
	}
	done, err = reap.Purge(t.Context(), w.undo(), now.Add(time.Second))
	if err != nil || done.Purged != 1 || len(w.shelf.Names()) != 0 || !slices.Equal(w.left(), []string{"a"}) {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err := reap.Purge(t.Context(), w.undo(), now.Add(time.Second)); err != nil || done.Purged+done.Gone > 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

func TestAJournalWithoutQuarantineCantBeUndone(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	if _, err := w.apply(t.Context(), w.cleared()); err != nil {
		t.Fatal(err)
	}
	j, err := filelist.OpenJournal(t.Context(), w.log(), filelist.JournalHead{PlanID: "p1", Table: root.String()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reap.Restore(t.Context(), reap.Undo{Journal: j}); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}

// Fail or kill a restore and a purge at every call; the same command again
// ends in the same place.
func TestUndoWithAFaultAtEveryCall(t *testing.T) {
	for how, injection := range map[string]store.Injection{
		"fail before": {Err: errors.New("broken")}, "fail after": {Err: errors.New("broken"), When: store.After},
		"kill before": {Kill: true}, "kill after": {Kill: true, When: store.After},
	} {
		for _, purge := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, purge %v", how, purge), func(t *testing.T) {
				for n := int64(1); ; n++ {
					w := quarantined(t, "a", "p=1/b")
					run := func() (done reap.Undone, err error) {
						head := filelist.JournalHead{PlanID: "p1", Table: root.String(), Quarantine: shelf.String()}
						u := reap.Undo{Quarantine: w.through(w.shelf), Table: w.through(w.table), Now: clock}
						if u.Journal, err = filelist.OpenJournal(context.Background(), w.log(), head); err != nil {
							return done, err
						}
						if purge {
							return reap.Purge(context.Background(), u, now.Add(time.Second))
						}
						return reap.Restore(context.Background(), u)
					}
					w.faults = store.NewFaults(store.FailNth(n, injection))
					_, err := run()
					calls := w.faults.Calls()
					w.faults = nil
					if calls < n {
						if err != nil {
							t.Fatal(err)
						}
						return
					}
					if _, err := run(); err != nil {
						t.Fatalf("fault %d, again: %v", n, err)
					}
					back := len(w.left())
					if purge && (back > 0 || len(w.shelf.Names()) > 0) || !purge && back != 2 {
						t.Fatalf("fault %d: back %q, in quarantine %q", n, w.left(), w.shelf.Names())
					}
				}
			})
		}
	}
}

func TestPlacesThatAreNoQuarantine(t *testing.T) {
	table := lake.Root{Scheme: "s3", Authority: "b", Path: "t"}
	for _, c := range []struct {
		prefix lake.Root
		want   string
	}{
		{lake.Root{Scheme: "s3", Authority: "b", Path: "q"}, "s3://b/q/p1"},
		{lake.Root{Scheme: "s3a", Authority: "other"}, "s3a://other/p1"},
		{lake.Root{Scheme: "s3", Authority: "b", Path: "t0"}, "s3://b/t0/p1"},
		{lake.Root{Scheme: "s3", Authority: "b", Path: "t"}, ""},
		{lake.Root{Scheme: "s3a", Authority: "b", Path: "t/q"}, ""},
		{lake.Root{Scheme: "file", Path: "q"}, ""},
	} {
		got, err := reap.QuarantineRoot(c.prefix, "p1", table)
		if got.String() != c.want || (err != nil) != (c.want == "") || err != nil && lake.KindOf(err) != lake.Invalid {
			t.Errorf("%s: %s, %v", c.prefix, got, err)
		}
	}
	w := newWorld(t, mem.Default(), "a")
	for _, inside := range []lake.Root{root, {Scheme: "mem", Path: "t/q"}, {Scheme: "mem"}} {
		w.opt.Quarantine = &reap.Quarantine{Root: inside}
		if _, err := w.apply(t.Context(), w.cleared()); lake.KindOf(err) != lake.Invalid || len(w.left()) != 1 {
			t.Errorf("%s: %v", inside, err)
		}
		w.journals = mem.New(mem.Options{Now: clock})
	}
}
