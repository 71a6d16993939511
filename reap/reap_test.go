package reap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
)

func TestOutcomes(t *testing.T) {
	young := cutoff.Add(time.Hour)
	for _, c := range []struct {
		rule   string
		traits store.Traits
		set    func(*world)
		want   string // of "a"
	}{
		{"dead", mem.Default(), func(*world) {}, "deleted"},
		{"already gone", mem.Default(), func(w *world) { w.drop("a") }, "gone"},
		{"already gone, when looked at", poor(), func(w *world) { w.aged(); w.drop("a") }, "gone"},
		{"written anew, deletes on condition", mem.Default(), func(w *world) { w.table.Put("a", []byte("a"), aged) }, "spared"},
		{"written anew, an aged plan", poor(), func(w *world) { w.aged(); w.table.Put("a", []byte("a"), young) }, "spared"},
		{"of another size, an aged plan", poor(), func(w *world) { w.aged(); w.table.Put("a", []byte("longer"), aged) }, "spared"},
		{"of another time, an aged plan", poor(), func(w *world) { w.aged(); w.table.Put("a", []byte("a"), aged.Add(-time.Minute)) }, "spared"},
		{"looked at by a store that shows only seconds", poor(), func(w *world) { w.aged(); w.rows[0].Modified, w.rows[0].ETag = aged.Add(time.Millisecond), "" }, "deleted"},
		{"protected since the plan", mem.Default(), func(w *world) { w.watch.protects = map[lake.Key]int{"a": 1} }, "spared"},
		{"of unknown size and time, from the log", poor(), func(w *world) { w.fromLog() }, "deleted"},
		{"from the log, but young", poor(), func(w *world) { w.fromLog(); w.table.Put("a", nil, young) }, "spared"},
		{"from the log, at the cutoff", poor(), func(w *world) { w.fromLog(); w.table.Put("a", nil, cutoff) }, "spared"},
		{"from the log, deletes on condition", mem.Default(), func(w *world) { w.fromLog() }, "deleted"},
		{"from an inventory, of another size", poor(), func(w *world) { w.head.Source = "i"; w.rows[0].Size = 300_000 }, "deleted"},
		{"from an inventory, created anew", poor(), func(w *world) { w.head.Source = "i"; w.table.Put("a", nil, young) }, "spared"},
		{"from an inventory with ETags, created anew", mem.Default(), func(w *world) { w.head.Source = "i"; w.table.Put("a", nil, aged) }, "spared"},
		{"from an inventory with sums for ETags, written anew", contentTags(), func(w *world) { w.again(young) }, "spared"},
		{"from an inventory with sums for ETags", contentTags(), func(w *world) { w.again(aged) }, "deleted"},
		{"a file slice dies by policy, not by age", poor(), func(w *world) {
			w.aged()
			w.table.Put("a", nil, young)
			w.rows[0] = lake.Verdict{Key: "a", Size: 0, Modified: young, Reason: lake.ExpiredSlice}
		}, "deleted"},
		{"a blob that was written anew", poor(), func(w *world) {
			w.table.Put("a", []byte("new"), now)
			w.rows[0].Reason, w.rows[0].ETag = lake.ExpiredBlob, ""
		}, "spared"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, c.traits, "a", "b")
			c.set(w)
			res, err := w.apply(t.Context(), w.cleared())
			if err != nil || !res.Complete || w.record.state != "complete" {
				t.Errorf("%+v, %v", res, err)
			}
			if w.outcomes["a"] != c.want || w.outcomes["b"] != "deleted" {
				t.Errorf("%v, want a %s", w.outcomes, c.want)
			}
			if there := w.exists(lake.Verdict{Key: "a"}); there != (c.want == "spared") {
				t.Errorf("a is there: %v", there)
			}
			w.sound()
		})
	}
}

// contentTags are those of S3.
func contentTags() store.Traits {
	tr := mem.Default()
	tr.ContentTags = true
	return tr
}

// again writes what the plan knows from an inventory anew, with the same ETag.
func (w *world) again(at time.Time) {
	w.head.Source = "i"
	w.table.Put("a", []byte("a"), at)
	info, err := w.table.Stat(w.t.Context(), "a")
	if err != nil {
		w.t.Fatal(err)
	}
	w.rows[0].ETag = info.ETag
}

func (w *world) drop(name string) {
	w.t.Helper()
	if err := w.table.Remove(w.t.Context(), name, ""); err != nil {
		w.t.Fatal(err)
	}
}

// aged makes the plan one that is older than ten minutes.
func (w *world) aged() { w.head.Created = now.Add(-10*time.Minute - 1) }

// fromLog makes the plan LITE's.
func (w *world) fromLog() {
	w.head.Mode, w.head.Evidence.Listed = "lite", false
	for i := range w.rows {
		w.rows[i].Modified, w.rows[i].ETag, w.rows[i].Reason, w.rows[i].Tombstone = time.Time{}, "", lake.Tombstone, aged
	}
}

func TestNamesThatNoPlanMayHold(t *testing.T) {
	for _, key := range []lake.Key{"_delta_log/0.json", "x/_delta_log/0.json", ".hoodie/hoodie.properties", "x/.hoodie", "a/../live-1", "./live-1", "_tmp/x"} {
		w := newWorld(t, mem.Default(), "a", "z")
		if _, lives := w.live[string(key)]; !lives {
			w.table.Put(string(key), []byte{1}, aged)
		}
		w.rows = append(w.rows, lake.Verdict{Key: key, Size: 1, Modified: aged, Reason: lake.Orphan})
		slices.SortFunc(w.rows, func(a, b lake.Verdict) int { return strings.Compare(string(a.Key), string(b.Key)) })
		w.opt.Reserved = func(k lake.Key) bool { return strings.HasPrefix(string(k), "_tmp/") }
		_, err := w.apply(t.Context(), w.cleared())
		if e, ok := errors.AsType[*lake.Error](err); !ok || e.Kind != lake.Refused || e.Code != "reserved_name" {
			t.Errorf("%s: %v", key, err)
		}
		if w.record.state != "fail" {
			t.Errorf("%s: %s", key, w.record.state)
		}
		w.sound()
	}
	w := newWorld(t, mem.Default(), "a")
	w.rows = append(w.rows, lake.Verdict{URI: "s3://b/x", Size: 1, Reason: lake.ExpiredBlob})
	if _, err := w.apply(t.Context(), w.cleared()); lake.KindOf(err) != lake.Refused {
		t.Errorf("a blob without a way to it: %v", err)
	}
}

func TestNothingRunsWithoutAClearedPlan(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	if _, err := w.apply(t.Context(), guard.Cleared{}); err == nil || lake.KindOf(err) != lake.Internal {
		t.Error(err)
	}
	if w.record.state != "" || len(w.left()) != 1 {
		t.Error(w.record.state, w.left())
	}
}

func TestTheGuardianSparesWhatComesBackMeanwhile(t *testing.T) {
	w := newWorld(t, small(mem.Default()), "a", "b", "c", "d", "e", "f")
	w.opt.BatchSize, w.opt.RefreshEvery = 2, time.Nanosecond
	w.opt.Now = ticking()
	w.watch.protects = map[lake.Key]int{"a": 4, "d": 3, "e": 4, "f": 5}
	res, err := w.apply(t.Context(), w.cleared())
	if err != nil || !res.Complete || res.Spared != 2 || res.Deleted != 4 {
		t.Errorf("%+v, %v", res, err)
	}
	// Refresh 1 precedes the announcement, then each of three batches has its own.
	want := map[string]string{"a": "deleted", "b": "deleted", "c": "deleted", "d": "spared", "e": "spared", "f": "deleted"}
	if diff := cmp.Diff(want, w.outcomes); diff != "" || w.watch.refreshes != 4 {
		t.Errorf("%d refreshes; %s", w.watch.refreshes, diff)
	}
	w.sound()
}

func TestTheLogIsReadAtMostEveryFewSeconds(t *testing.T) {
	w := newWorld(t, small(mem.Default()), "a", "b", "c", "d", "e", "f")
	w.opt.BatchSize = 1
	if _, err := w.apply(t.Context(), w.cleared()); err != nil || w.watch.refreshes != 2 {
		t.Errorf("%d refreshes in no time, %v", w.watch.refreshes, err)
	}
}

func TestAStalePlanStopsBetweenBatches(t *testing.T) {
	stale := &lake.Error{Op: "read log", Kind: lake.Stale, Err: errors.New("metadata changed")}
	for at, deleted := range map[int]int64{1: 0, 2: 0, 3: 2, 4: 4} {
		w := newWorld(t, small(mem.Default()), "a", "b", "c", "d", "e", "f")
		w.opt.BatchSize, w.opt.RefreshEvery = 2, time.Nanosecond
		w.opt.Now = ticking()
		w.watch.err, w.watch.errAt = stale, at
		res, err := w.apply(t.Context(), w.cleared())
		if lake.KindOf(err) != lake.Stale || res.Deleted != deleted || res.Complete {
			t.Errorf("refresh %d: %+v, %v", at, res, err)
		}
		if want := map[bool]string{true: "", false: "fail"}[at == 1]; w.record.state != want {
			t.Errorf("refresh %d: %q, want %q", at, w.record.state, want)
		}
		w.sound()
	}
}

func TestLimits(t *testing.T) {
	dead := []string{"a1", "a2", "a3", "a4", "a5"} // of two bytes each
	for _, c := range []struct {
		rule             string
		set              func(*world)
		deleted, skipped int64
		limit            string
	}{
		{"objects", func(w *world) { w.opt.MaxDelete = 3 }, 3, 2, "--max-delete"},
		{"as many as there are", func(w *world) { w.opt.MaxDelete = 5 }, 5, 0, ""},
		{"bytes", func(w *world) { w.opt.MaxBytes = 5 }, 2, 3, "--max-bytes"},
		{"what is gone already doesn't count", func(w *world) { w.opt.MaxDelete = 3; w.drop("a1"); w.drop("a2") }, 3, 0, ""},
		{"what is spared doesn't count", func(w *world) { w.opt.MaxDelete = 3; w.watch.protects = map[lake.Key]int{"a1": 1} }, 3, 1, "--max-delete"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, mem.Default(), dead...)
			c.set(w)
			cleared := w.cleared()
			res, err := w.apply(t.Context(), cleared)
			if res.Deleted != c.deleted || res.Skipped != c.skipped || res.Limit != c.limit || res.Complete != (c.limit == "") {
				t.Errorf("%+v", res)
			}
			if (err == nil) != (c.limit == "") || err != nil && lake.KindOf(err) != lake.Limit {
				t.Errorf("%v", err)
			}
			w.opt = reap.Options{Now: clock}
			if res, err := w.apply(t.Context(), cleared); err != nil || !res.Complete || len(w.left()) > int(res.Spared) {
				t.Errorf("resumed: %+v, %v, left %q", res, err, w.left())
			}
			w.sound()
		})
	}
}

func TestATimeLimitStopsBetweenBatches(t *testing.T) {
	w := newWorld(t, mem.Default(), "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
	w.opt.MaxDuration, w.opt.BatchSize, w.opt.Now = 15*time.Second, 1, ticking()
	cleared := w.cleared()
	res, err := w.apply(t.Context(), cleared)
	if lake.KindOf(err) != lake.Limit || res.Limit != "--max-duration" || res.Skipped == 0 || res.Deleted+res.Skipped != 8 {
		t.Errorf("%+v, %v", res, err)
	}
	w.sound()
}

func TestSomeObjectsCantBeDeleted(t *testing.T) {
	w := newWorld(t, mem.Default(), "a", "b", "c", "d")
	denied := &deniedStore{Store: w.table, names: map[string]bool{"b": true, "d": true}}
	j, err := filelist.OpenJournal(t.Context(), journalFile(t), filelist.JournalHead{PlanID: "p1", Table: root.String()})
	if err != nil {
		t.Fatal(err)
	}
	w.opt.MaxDelete = 3
	res, err := reap.Run(t.Context(), reap.Job{Cleared: w.cleared(), Place: denied, Guardian: w.watch, Recorder: w.record, Journal: j}, w.opt)
	if lake.KindOf(err) != lake.Partial || res.Deleted != 2 || res.Failed != 2 || w.record.state != "fail" {
		t.Errorf("%+v, %v", res, err)
	}
	for _, f := range res.Failures {
		if !errors.Is(f.Err, fs.ErrPermission) {
			t.Errorf("%+v", f)
		}
	}
	if want := map[string]string{"a": "deleted", "b": "failed", "c": "deleted", "d": "failed"}; !maps.Equal(w.outcomes, want) {
		t.Error(w.outcomes)
	}
}

// deniedStore refuses to delete some names, in an answer that is a success as a whole.
type deniedStore struct {
	store.Store
	names map[string]bool
	all   bool
	calls int
}

func (d *deniedStore) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	d.calls++
	outcomes := make([]store.Outcome, len(targets))
	for i, target := range targets {
		outcomes[i] = store.Outcome{Target: target, Err: fs.ErrPermission}
		if !d.all && !d.names[target.Name] {
			one, err := d.Store.Delete(ctx, targets[i:i+1])
			if err != nil {
				return nil, err
			}
			outcomes[i] = one[0]
		}
	}
	return outcomes, nil
}

func TestARunGivesUpWhereNothingCanBeDeleted(t *testing.T) {
	var dead []string
	for i := range 1000 {
		dead = append(dead, fmt.Sprintf("f%04d", i))
	}
	w := newWorld(t, mem.Default(), dead...)
	denied := &deniedStore{Store: w.table, all: true}
	j, err := filelist.OpenJournal(t.Context(), w.log(), filelist.JournalHead{PlanID: "p1", Table: root.String()})
	if err != nil {
		t.Fatal(err)
	}
	w.opt.BatchSize = 100
	res, err := reap.Run(t.Context(), reap.Job{Cleared: w.cleared(), Place: denied, Guardian: w.watch, Recorder: w.record, Journal: j}, w.opt)
	if !errors.Is(err, fs.ErrPermission) || res.Deleted != 0 || res.Complete || denied.calls > 4 {
		t.Errorf("%+v, %v, %d calls", res, err, denied.calls)
	}
	w.sound()
}

func TestASignalFinishesTheBatch(t *testing.T) {
	w := newWorld(t, small(mem.Default()), "a", "b", "c", "d", "e", "f")
	w.opt.BatchSize = 4
	ctx, cancel := context.WithCancel(t.Context())
	w.faults = store.NewFaults(func(c store.Call) store.Injection {
		if c.Op == "delete" {
			cancel()
		}
		return store.Injection{}
	})
	cleared := w.cleared()
	res, err := w.apply(ctx, cleared)
	if lake.KindOf(err) != lake.Interrupted || res.Deleted != 4 || res.Complete || w.record.state != "fail" {
		t.Errorf("%+v, %v, %s", res, err, w.record.state)
	}
	w.sound()
	if res, err := w.apply(t.Context(), cleared); err != nil || res.Deleted != 6 || res.Resumed != 4 || !res.Complete {
		t.Errorf("resumed: %+v, %v", res, err)
	}
	if want := (table.Result{Deleted: 6, Bytes: 6, Complete: true}); w.record.result != want {
		t.Errorf("recorded %+v", w.record.result)
	}
}

func TestChecksumsGoWithTheirFiles(t *testing.T) {
	w := newWorld(t, mem.Default(), "a", "p=1/b", "p=1/kept")
	for _, name := range []string{".a.crc", "p=1/.b.crc", "p=1/.live-2.crc", "p=1/.kept.crc", "_delta_log/.0.json.crc"} {
		w.table.Put(name, []byte("crc"), now)
	}
	w.opt.Checksums = true
	w.watch.protects = map[lake.Key]int{"p=1/kept": 1}
	res, err := w.apply(t.Context(), w.cleared())
	if err != nil || res.Deleted != 2 || res.Bytes != 6 || res.Spared != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	names := w.table.Names()
	for name, want := range map[string]bool{".a.crc": false, "p=1/.b.crc": false, "p=1/.live-2.crc": true, "p=1/.kept.crc": true, "_delta_log/.0.json.crc": true} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
	journaled := map[string]bool{}
	for _, r := range w.records() {
		if r.Checksum {
			journaled[string(r.Key)+" "+r.Type] = true
		}
	}
	if want := map[string]bool{".a.crc intent": true, ".a.crc outcome": true, "p=1/.b.crc intent": true, "p=1/.b.crc outcome": true}; !maps.Equal(journaled, want) {
		t.Error(journaled)
	}
}

func TestDirectories(t *testing.T) {
	for _, c := range []struct {
		rule string
		set  func(*world)
		want map[string]string
	}{
		{"deepest first", func(*world) {}, map[string]string{"e": "deleted", "e/f": "deleted", "e/f/g": "deleted", "a": "deleted"}},
		{"filled since", func(w *world) { w.table.Put("e/f/g/new", nil, now) }, map[string]string{"e": "spared", "e/f": "spared", "e/f/g": "spared", "a": "deleted"}},
		{"touched since", func(w *world) { w.table.Put("e/f/g/", nil, now) }, map[string]string{"e": "spared", "e/f": "spared", "e/f/g": "spared", "a": "deleted"}},
		{"gone", func(w *world) { w.drop("e/f/g/") }, map[string]string{"e": "deleted", "e/f": "deleted", "e/f/g": "gone", "a": "deleted"}},
		{"not after a limit", func(w *world) { w.opt.MaxDuration = 1; w.opt.Now = ticking() }, map[string]string{"a": "skipped"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, mem.Default(), "a", "e/", "e/f/", "e/f/g/")
			c.set(w)
			if _, err := w.apply(t.Context(), w.cleared()); err != nil && lake.KindOf(err) != lake.Limit {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, w.outcomes); diff != "" {
				t.Error(diff)
			}
			w.sound()
		})
	}
}

// ticking is a clock that moves on by a second whenever it is read.
func ticking() func() time.Time {
	var seconds atomic.Int64
	return func() time.Time { return now.Add(time.Duration(seconds.Add(1)) * time.Second) }
}

func TestManyWorkersDeleteEachObjectOnce(t *testing.T) {
	var dead []string
	for i := range 5000 {
		dead = append(dead, fmt.Sprintf("p=%d/f%04d", i%7, i))
	}
	w := newWorld(t, small(mem.Default()), dead...)
	w.opt.Workers, w.opt.BatchSize = 6, 50
	w.opt.MaxDelete = 4321
	told := 0
	w.opt.Outcome = func(o reap.Outcome) { told++; w.outcomes[string(o.Key)] = o.Outcome }
	cleared := w.cleared()
	res, err := w.apply(t.Context(), cleared)
	if lake.KindOf(err) != lake.Limit || res.Deleted != 4321 || res.Skipped != 679 || told != 5000 {
		t.Errorf("%+v, %v, told %d", res, err, told)
	}
	w.opt.MaxDelete = 0
	if res, err := w.apply(t.Context(), cleared); err != nil || res.Deleted != 5000 || len(w.left()) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	w.sound()
}

func TestAJournalOfAnotherPlanIsRefused(t *testing.T) {
	w := newWorld(t, mem.Default(), "a")
	cleared := w.cleared()
	if _, err := w.apply(t.Context(), cleared); err != nil {
		t.Fatal(err)
	}
	w.head.PlanID = "p2"
	if _, err := w.apply(t.Context(), w.cleared()); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}
