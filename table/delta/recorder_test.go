package delta_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// info reads the commitInfo of a commit that holds nothing else.
func (f *fixture) info(t *testing.T, v int64) map[string]any {
	t.Helper()
	var line struct{ CommitInfo map[string]any }
	body := f.read(t, deltatest.Name(v))
	if err := json.Unmarshal(body, &line); err != nil || strings.Count(string(body), "\n") != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	return line.CommitInfo
}

func recorderOf(t *testing.T, f *fixture, w store.Writer, o delta.RecorderOptions) table.Recorder {
	t.Helper()
	rec, err := f.mustOpen(t).Recorder(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// B041: START with what will be deleted, END with what was.
func TestB041StartAndEnd(t *testing.T) {
	f := chain(t)
	var journal []string
	specified := int64(3_600_000)
	rec := recorderOf(t, f, store.Confine(f.s, meta.LogDir), delta.RecorderOptions{Engine: "lakesweep/9", RetentionCheck: true, DefaultRetention: 604_800_000,
		SpecifiedRetention: &specified, Journal: func(n string) { journal = append(journal, n) }})
	if err := rec.Begin(t.Context(), table.Intent{Objects: 3, Bytes: 1083, Where: "p = 'x'"}); err != nil {
		t.Fatal(err)
	}
	if err := rec.Confirm(t.Context(), keys("f0")); err != nil {
		t.Fatal(err)
	}
	if err := rec.Complete(t.Context(), table.Result{Deleted: 3, Directories: 1}); err != nil {
		t.Fatal(err)
	}
	start, end := f.info(t, 10), f.info(t, 11)
	for got, want := range map[string]string{
		fmt.Sprint(start["operation"], start["operationParameters"], start["operationMetrics"]):                              "VACUUM STARTmap[defaultRetentionMillis:6.048e+08 predicate:p = 'x' retentionCheckEnabled:true specifiedRetentionMillis:3.6e+06] map[numFilesToDelete:3 sizeOfDataToDelete:1083]",
		fmt.Sprint(end["operation"], end["operationParameters"], end["operationMetrics"]):                                    "VACUUM ENDmap[status:COMPLETED] map[numDeletedFiles:4 numVacuumedDirectories:1]",
		fmt.Sprint(start["readVersion"], end["readVersion"], end["isolationLevel"], end["isBlindAppend"], end["engineInfo"]): "9 10SnapshotIsolationtruelakesweep/9",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if start["txnId"] == end["txnId"] || len(start["txnId"].(string)) != 36 {
		t.Error("transaction ids", start["txnId"], end["txnId"])
	}
	if !slices.Equal(journal, []string{deltatest.Name(10), deltatest.Name(11)}) {
		t.Error("journal", journal)
	}
	if p := f.protect(t, delta.ProtectRequest{Cutoff: f.now}); p.LiveFiles != 1 {
		t.Error("the commits changed the table")
	}
}

func TestFailedRunsEndAsFailed(t *testing.T) {
	for _, how := range []func(context.Context, table.Recorder) error{
		func(ctx context.Context, r table.Recorder) error { return r.Fail(ctx, table.Result{Deleted: 1}) },
		func(ctx context.Context, r table.Recorder) error {
			return r.Complete(ctx, table.Result{Deleted: 1, Failed: 1})
		},
	} {
		f := chain(t)
		next := int64(7)
		rec := recorderOf(t, f, f.s, delta.RecorderOptions{Unfiltered: true, Full: true, Next: &next})
		if err := errors.Join(rec.Begin(t.Context(), table.Intent{}), how(t.Context(), rec)); err != nil {
			t.Fatal(err)
		}
		end := f.info(t, 11)
		if got := fmt.Sprint(end["operation"], end["operationParameters"], end["operationMetrics"]); got != "VACUUM ENDmap[status:FAILED] <nil>" {
			t.Error(got)
		}
		if slices.Contains(f.s.Names(), watermark) {
			t.Error("a failed run moved the watermark")
		}
	}
}

func TestNothingIsCommittedWhereItMustNot(t *testing.T) {
	traits := mem.Default()
	traits.PutIfAbsent = false
	for name, c := range map[string]struct {
		traits store.Traits
		log    string
		kind   lake.Kind
		fails  bool
	}{
		"off":                  {mem.Default(), "off", 0, false},
		"auto without respect": {traits, "auto", 0, false},
		"on without respect":   {traits, "on", lake.Refused, true},
		"another word":         {mem.Default(), "maybe", lake.Invalid, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.s = mem.New(mem.Options{Traits: c.traits})
			f.Log = deltatest.New(t, deltatest.Mem(f.s))
			f.Commit(day(0))
			before := f.s.Names()
			rec, err := f.mustOpen(t).Recorder(f.s, delta.RecorderOptions{CommitLog: c.log})
			if c.fails {
				if lake.KindOf(err) != c.kind {
					t.Error(err)
				}
				return
			}
			if err == nil {
				err = errors.Join(rec.Begin(t.Context(), table.Intent{}), rec.Complete(t.Context(), table.Result{Complete: true}))
			}
			if err != nil || !slices.Equal(before, f.s.Names()) {
				t.Error(err, f.s.Names())
			}
		})
	}
}

// racing lets another writer commit just before each of our first commits.
type racing struct {
	store.Writer
	f     *fixture
	left  int
	extra []deltatest.Action
}

func (r *racing) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if r.left > 0 {
		r.left--
		r.f.Commit(day(90), append(r.extra, deltatest.NewAdd(fmt.Sprint("race", r.f.Next()), 1))...)
	}
	return r.Writer.PutIfAbsent(ctx, name, data)
}

// B040: others commit while we do; ours lands after theirs and erases nothing.
func TestB040Conflicts(t *testing.T) {
	f := chain(t)
	g, err := f.mustOpen(t).Guardian(f.mustOpen(t).State(), false)
	if err != nil {
		t.Fatal(err)
	}
	w := &racing{Writer: f.s, f: f, left: 2}
	rec := recorderOf(t, f, w, delta.RecorderOptions{Guardian: g})
	if err := rec.Begin(t.Context(), table.Intent{Objects: 1}); err != nil {
		t.Fatal(err)
	}
	if !g.Protected("race10") || !g.Protected("race11") {
		t.Error("the plan was not judged again after a conflict")
	}
	if f.info(t, 12)["operation"] != "VACUUM START" || f.info(t, 12)["readVersion"] != 11.0 {
		t.Error(f.info(t, 12))
	}
	if err := rec.Complete(t.Context(), table.Result{Deleted: 1}); err != nil {
		t.Fatal(err)
	}
	if f.info(t, 13)["operation"] != "VACUUM END" {
		t.Error(f.info(t, 13))
	}
}

func TestStartStopsWhereAWinnerChangedTheTable(t *testing.T) {
	f := chain(t)
	changed := f.MetaData
	changed.Configuration = map[string]string{"a": "b"}
	w := &racing{Writer: f.s, f: f, left: 1, extra: []deltatest.Action{{MetaData: &changed}}}
	rec := recorderOf(t, f, w, delta.RecorderOptions{})
	if err := rec.Begin(t.Context(), table.Intent{}); lake.KindOf(err) != lake.Stale {
		t.Error(err)
	}
	if slices.Contains(f.s.Names(), deltatest.Name(11)) {
		t.Error("committed all the same")
	}
}

func TestEndIsWrittenEvenThen(t *testing.T) {
	f := chain(t)
	changed := f.MetaData
	changed.Configuration = map[string]string{"a": "b"}
	w := &racing{Writer: f.s, f: f}
	rec := recorderOf(t, f, w, delta.RecorderOptions{})
	if err := rec.Begin(t.Context(), table.Intent{}); err != nil {
		t.Fatal(err)
	}
	f.Skip()
	w.left, w.extra = 1, []deltatest.Action{{MetaData: &changed}}
	if err := rec.Complete(t.Context(), table.Result{Deleted: 1}); err != nil {
		t.Fatal(err)
	}
	if f.info(t, 12)["operation"] != "VACUUM END" {
		t.Error(f.info(t, 12))
	}
}

func TestCommitsCarryInCommitTimestamps(t *testing.T) {
	f := newFixture(t)
	f.Features(nil, []string{"inCommitTimestamp"}).Configure("delta.enableInCommitTimestamps", "true")
	ahead := f.now.UnixMilli() + 5000
	f.Commit(day(0), deltatest.Action{CommitInfo: map[string]any{"inCommitTimestamp": ahead}})
	rec := recorderOf(t, f, f.s, delta.RecorderOptions{})
	if err := errors.Join(rec.Begin(t.Context(), table.Intent{}), rec.Complete(t.Context(), table.Result{})); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(f.read(t, deltatest.Name(1))), fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d,`, ahead+1)) {
		t.Errorf("%s", f.read(t, deltatest.Name(1)))
	}
	if got := f.info(t, 2)["inCommitTimestamp"]; got != float64(ahead+2) {
		t.Error(got)
	}
}

// A run that was killed after its last deletion left a START: the next one ends it, once.
func TestAnUnendedStartIsEnded(t *testing.T) {
	f := chain(t)
	planned := int64(9)
	intent := table.Intent{Objects: 3, Bytes: 1083, Version: &planned}
	o := delta.RecorderOptions{Engine: "lakesweep/9"}
	if err := recorderOf(t, f, f.s, o).Begin(t.Context(), intent); err != nil {
		t.Fatal(err)
	}
	f.Skip()
	f.Commit(day(30), deltatest.NewAdd("another", 9))
	another := intent
	another.Objects++
	intent.Done, another.Done = true, true
	for _, c := range []struct {
		intent  table.Intent
		commits int
	}{{another, 0}, {intent, 1}, {intent, 0}} {
		before := len(f.s.Names())
		rec := recorderOf(t, f, f.s, o)
		if err := errors.Join(rec.Begin(t.Context(), c.intent), rec.Complete(t.Context(), table.Result{Deleted: 3})); err != nil {
			t.Fatal(err)
		}
		if n := len(f.s.Names()) - before; n != c.commits {
			t.Errorf("%d objects: %d commits, want %d", c.intent.Objects, n, c.commits)
		}
	}
	if end := f.info(t, 12); end["operation"] != "VACUUM END" || fmt.Sprint(end["operationMetrics"]) != "map[numDeletedFiles:3 numVacuumedDirectories:0]" {
		t.Error(end)
	}
}
