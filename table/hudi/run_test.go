package hudi

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleanrun"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

var errKilled = errors.New("killed")

// killer lets n writing calls through and then fails all.
type killer struct {
	*mem.Store
	left int
}

func (k *killer) spend() error {
	if k.left--; k.left < 0 {
		return errKilled
	}
	return nil
}

func (k *killer) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	if err := k.spend(); err != nil {
		return err
	}
	return k.Store.PutIfAbsent(ctx, name, data)
}

func (k *killer) Remove(ctx context.Context, name, ifMatch string) error {
	if err := k.spend(); err != nil {
		return err
	}
	return k.Store.Remove(ctx, name, ifMatch)
}

// execution is a plan with what carrying it out takes.
type execution struct {
	tab     *Table
	rows    []lake.Verdict
	options cleanrun.Options
	run     *cleanrun.Run
}

func prepare(t *testing.T, s store.Reader, w store.Writer, c retain.Config, now time.Time, l lock.Provider) (*execution, error) {
	t.Helper()
	return prepareAt(t, s, lake.Root{Scheme: "mem", Authority: "x", Path: "t"}, w, c, now, l)
}

func prepareAt(t *testing.T, s store.Reader, root lake.Root, w store.Writer, c retain.Config, now time.Time, l lock.Provider) (*execution, error) {
	t.Helper()
	return prepareBy(t, s, root, w, c, func() time.Time { return now }, l)
}

func prepareBy(t *testing.T, s store.Reader, root lake.Root, w store.Writer, c retain.Config, now func() time.Time, l lock.Provider) (*execution, error) {
	t.Helper()
	e := &execution{}
	var err error
	if e.tab, err = Open(t.Context(), s, root, Options{Zone: time.UTC, Now: now, Workers: 2}); err != nil {
		return nil, err
	}
	p, err := e.tab.Plan(t.Context(), c)
	if err != nil {
		return nil, err
	}
	for v, err := range p.Verdicts(t.Context()) {
		if err != nil {
			return nil, err
		}
		e.rows = append(e.rows, v)
	}
	state, err := p.State()
	if err != nil {
		return nil, err
	}
	rows := func() iter.Seq2[lake.Verdict, error] {
		return func(yield func(lake.Verdict, error) bool) {
			for _, v := range e.rows {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
	e.options = cleanrun.Options{PlanID: "plan-1", State: state, Rows: rows, Lock: l, Writer: w, Sleep: func(context.Context, time.Duration) error { return nil }}
	e.run, err = e.tab.Run(e.options)
	return e, err
}

// carryOut does what package reap does.
func (e *execution) carryOut(ctx context.Context, w store.Writer) error {
	if err := e.run.Refresh(ctx); err != nil {
		return err
	}
	if err := e.run.Begin(ctx, table.Intent{PlanID: "plan-1"}); err != nil {
		return err
	}
	for _, v := range e.rows {
		if v.Directory {
			continue
		}
		if err := w.Remove(ctx, string(v.Key), ""); err != nil && !strings.Contains(err.Error(), "exist") {
			return errors.Join(err, e.run.Fail(ctx, table.Result{}))
		}
	}
	return e.run.Complete(ctx, table.Result{Complete: true})
}

func load(t *testing.T, name string) *fixture.Case {
	t.Helper()
	for _, f := range fixture.Files(t) {
		if filepath.Base(f) == name+".tar.gz" {
			return fixture.Load(t, f)
		}
	}
	t.Fatal("no fixture " + name)
	return nil
}

// checkCleaned checks the table after a clean under a policy: exactly the
// right files are left, the metadata table lists them, and one clean is complete.
func checkCleaned(t *testing.T, s *mem.Store, p fixture.Policy, before []string) {
	t.Helper()
	gone := slices.Concat(p.Deleted, p.OtherRemoved)
	for _, name := range before {
		_, err := s.Stat(t.Context(), name)
		if is := err == nil; is == slices.Contains(gone, name) {
			t.Fatalf("%s: there %v", name, is)
		}
	}
	tab := openAt(t, s, p.Now)
	cleans := 0
	for _, i := range tab.Timeline().Instants {
		if i.Action == timeline.Clean && i.Files[timeline.Requested] != "" {
			if i.State != timeline.Completed {
				t.Fatalf("clean %s is %s", i.Time, i.State)
			}
			cleans++
		}
	}
	if cleans == 0 {
		t.Fatal("no clean")
	}
	if tab.snap.Distrust != nil {
		t.Fatal(tab.snap.Distrust)
	}
	err := tab.Verify(t.Context(), func(f table.Finding) error { t.Errorf("%+v", f); return nil })
	if err != nil || t.Failed() {
		t.Fatal(err)
	}
}

// Killed at any write, the next run ends with the right files, the metadata
// table in step and the clean complete; and a further one has nothing to do.
func TestKilledAtAnyWrite(t *testing.T) {
	for _, name := range []string{"cow_v9_replace", "mor_v6_120", "mor_v9_rollback", "cow_v9_nopart_nomdt", "cow_v9_bloom"} {
		t.Run(name, func(t *testing.T) {
			c := load(t, name)
			p := c.Expected.Policies["commits"]
			for n := 0; ; n++ {
				s := mem.New(mem.Options{})
				clone(t, s, c.Table)
				before := s.Names()
				k := &killer{s, n}
				e, err := prepare(t, s, k, configOf(t, p), p.Now, lock.None{})
				if err != nil {
					t.Fatal(err)
				}
				first := e.carryOut(t.Context(), k)
				if first != nil {
					if !errors.Is(first, errKilled) {
						t.Fatal(first)
					}
					if e, err = prepare(t, s, s, configOf(t, p), p.Now.Add(time.Minute), lock.None{}); err != nil {
						t.Fatalf("killed at write %d: %v", n, err)
					}
					if err := e.carryOut(t.Context(), s); err != nil {
						t.Fatalf("killed at write %d: %v", n, err)
					}
				}
				checkCleaned(t, s, p, slices.DeleteFunc(before, func(f string) bool { return strings.HasPrefix(f, ".hoodie/") }))
				names := s.Names()
				if e, err = prepare(t, s, s, configOf(t, p), p.Now.Add(time.Hour), lock.None{}); err != nil {
					t.Fatal(err)
				}
				if err := e.carryOut(t.Context(), s); err != nil || len(e.rows) > 0 {
					t.Fatalf("a further run: %d files, %v", len(e.rows), err)
				}
				if diff := cmp.Diff(names, s.Names()); diff != "" {
					t.Fatalf("a further run changes: %s", diff)
				}
				if first == nil {
					break
				}
			}
		})
	}
}

// The same plan with its own clean published already goes on with it.
func TestTheSamePlanGoesOn(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	before := c.Table.Names()
	e, err := prepare(t, c.Table, c.Table, configOf(t, p), p.Now, lock.None{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
		t.Fatal(err)
	}
	again, err := e.tab.Run(e.options)
	if err != nil {
		t.Fatal(err)
	}
	e.run = again
	if err := e.carryOut(t.Context(), c.Table); err != nil {
		t.Fatal(err)
	}
	checkCleaned(t, c.Table, p, slices.DeleteFunc(before, func(f string) bool { return strings.HasPrefix(f, ".hoodie/") }))
}

// A writer of Hudi 0.x took the same millisecond, without the lock. The metadata
// table has one commit of each instant: of theirs then.
func TestAnInstantThatAWriterTookIsLeftToIt(t *testing.T) {
	for _, name := range []string{"mor_v6_120", "cow_v9_part"} {
		c := load(t, name)
		p := c.Expected.Policies["commits"]
		e, err := prepare(t, c.Table, c.Table, configOf(t, p), p.Now, lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		tl, at := e.tab.Timeline(), func(n int) string { return timeline.FormatTime(p.Now.Add(time.Duration(n)*time.Millisecond), time.UTC) }
		taken := 0
		e.options.Sleep = func(ctx context.Context, _ time.Duration) error {
			if taken == 2 {
				return nil
			}
			taken++
			return c.Table.PutIfAbsent(ctx, tl.Dir+"/"+timeline.Name(tl.Layout, at(taken-1), timeline.DeltaCommit, timeline.Requested, ""), nil)
		}
		if e.run, err = e.tab.Run(e.options); err != nil {
			t.Fatal(err)
		}
		if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
			t.Fatal(err)
		}
		if e.run.Instant() != at(2) {
			t.Errorf("%s: the clean is %s, and writers have %q and %q", name, e.run.Instant(), at(0), at(1))
		}
	}
}

// Hudi 1.0 deletes an inflight clean without bytes and leaves the clean pending.
func TestInflightHoldsThePlanBeforeVersion9(t *testing.T) {
	for name, want := range map[string]bool{"mor_v6_120": true, "mor_v8_102": true, "cow_v9_part": false} {
		c := load(t, name)
		p := c.Expected.Policies["commits"]
		e, err := prepare(t, c.Table, c.Table, configOf(t, p), p.Now, lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
			t.Fatal(err)
		}
		pending := e.tab.Timeline().Dir + "/" + e.run.Instant() + ".clean."
		plan, inflight := contents(t, c.Table, pending+"requested"), contents(t, c.Table, pending+"inflight")
		if got := bytes.Equal(plan, inflight); got != want || !want && len(inflight) > 0 {
			t.Errorf("%s: the inflight file has %d bytes, the plan %d", name, len(inflight), len(plan))
		}
	}
}

// What comes between plan and publication makes the plan stale or doesn't, as
// it touches a planned file or not.
func TestWhatMakesAPlanStale(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	m := &model{t: t, version: 9}
	savepoint := func(files ...string) []byte {
		return m.avro(savepointSchema, map[string]any{"savepointedBy": "", "savepointedAt": int64(1), "comments": "", "version": int32(1),
			"partitionMetadata": map[string]any{"x": map[string]any{"partitionPath": "x", "savepointDataFile": files}}})
	}
	planned := p.Deleted[0]
	partition, base := string(lake.Key(planned).Dir()), lake.Key(planned).Base()
	id, _, _ := strings.Cut(base, "_")
	clean := timeline.CleanPlan{Policy: string(retain.LatestCommits)}
	cleanData, err := clean.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for rule, change := range map[string]struct {
		name  string
		data  []byte
		stale bool
	}{
		"a commit":                              {"20260602000000000_20260602000000001.commit", nil, false},
		"a write in flight":                     {"20260602000000000.inflight", nil, false},
		"a savepoint of another file":           {"20260601030003515_20260602000000001.savepoint", savepoint("other.parquet"), false},
		"a savepoint of a planned file":         {"20260601030003515_20260602000000001.savepoint", savepoint(base), true},
		"a rollback":                            {"20260602000000000.rollback.requested", nil, true},
		"a restore":                             {"20260602000000000.restore.inflight", nil, true},
		"another's clean":                       {"20260602000000000.clean.requested", cleanData, true},
		"a compaction of a planned file":        {"20260602000000000.compaction.requested", m.compactionPlan([]*modelGroup{{partition: partition, id: id, slices: []*modelSlice{{instant: "1", base: base}}}}), true},
		"a compaction of another file":          {"20260602000000000.compaction.requested", m.compactionPlan([]*modelGroup{{partition: partition, id: "other", slices: []*modelSlice{{instant: "1", base: "other_1_1.parquet"}}}}), false},
		"a clustering of a planned file":        {"20260602000000000.clustering.requested", m.clusteringPlan([]*modelGroup{{partition: partition, id: id, slices: []*modelSlice{{instant: "1", base: base}}}}), true},
		"a replacement of a planned file group": {"20260602000000000_20260602000000001.replacecommit", m.replaceData(nil, map[string][]string{partition: {id}}, "CLUSTER"), true},
		"a replacement of another file group":   {"20260602000000000_20260602000000001.replacecommit", m.replaceData(nil, map[string][]string{partition: {"other"}}, "CLUSTER"), false},
	} {
		s := mem.New(mem.Options{})
		clone(t, s, c.Table)
		e, err := prepare(t, s, s, configOf(t, p), p.Now, lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		s.Put(".hoodie/timeline/"+change.name, change.data, time.Time{})
		for where, err := range map[string]error{"refresh": e.run.Refresh(t.Context()), "begin": e.run.Begin(t.Context(), table.Intent{})} {
			if stale := lake.KindOf(err) == lake.Stale && err != nil; stale != change.stale || err != nil && !stale {
				if where == "begin" && !change.stale && lake.KindOf(err) == lake.Refused {
					continue // the metadata table doesn't know the commit that was put in
				}
				t.Errorf("%s, %s: %v", rule, where, err)
			}
		}
	}
}

// A lock that is lost stops the run before the next irreversible step.
func TestALostLockStops(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	l := &losing{}
	e, err := prepare(t, c.Table, c.Table, configOf(t, p), p.Now, l)
	if err != nil {
		t.Fatal(err)
	}
	before := c.Table.Names()
	l.lost = true
	if err := e.run.Begin(t.Context(), table.Intent{}); lake.KindOf(err) != lake.Locked {
		t.Fatalf("publishes without the lock: %v", err)
	}
	if diff := cmp.Diff(before, c.Table.Names()); diff != "" {
		t.Error(diff)
	}
	l.lost = false
	if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
		t.Fatal(err)
	}
	for _, v := range e.rows {
		if err := c.Table.Remove(t.Context(), string(v.Key), ""); err != nil {
			t.Fatal(err)
		}
	}
	before = c.Table.Names()
	l.lost = true
	if err := e.run.Complete(t.Context(), table.Result{}); lake.KindOf(err) != lake.Locked {
		t.Fatalf("completes without the lock: %v", err)
	}
	if diff := cmp.Diff(before, c.Table.Names()); diff != "" {
		t.Error(diff)
	}
}

type losing struct{ lost bool }

func (l *losing) Name() string                                { return "losing" }
func (l *losing) Acquire(context.Context) (lock.Lease, error) { return l, nil }
func (l *losing) Release(context.Context) error               { return nil }
func (l *losing) Verify(context.Context) error {
	if l.lost {
		return lock.Lost("losing", errors.New("test"))
	}
	return nil
}

// A clean is not completed while a file of its plan stands.
func TestNotCompletedWhileAFileStands(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	e, err := prepare(t, c.Table, c.Table, configOf(t, p), p.Now, lock.None{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
		t.Fatal(err)
	}
	for _, v := range e.rows[1:] {
		if err := c.Table.Remove(t.Context(), string(v.Key), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.run.Complete(t.Context(), table.Result{Complete: true}); lake.KindOf(err) != lake.Partial {
		t.Errorf("completes: %v", err)
	}
	if i, ok := openAt(t, c.Table, p.Now).Timeline().Find(e.run.Instant(), timeline.Clean); !ok || i.State != timeline.Inflight {
		t.Errorf("the clean is %+v", i)
	}
}

// A table copied with a clean pending names the original's files.
func TestPendingCleanOfAnotherTableIsRefused(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	for _, name := range c.Answers["commits"].Names() {
		if strings.HasSuffix(name, ".clean.requested") {
			r, err := c.Answers["commits"].Open(t.Context(), name, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 1<<20)
			n, err := r.Read(data)
			if err != nil {
				t.Fatal(err)
			}
			c.Table.Put(name, data[:n], time.Time{})
		}
	}
	tab := openAt(t, c.Table, p.Now)
	if _, err := tab.Plan(t.Context(), configOf(t, p)); lake.KindOf(err) != lake.Refused {
		t.Errorf("plans to finish it: %v", err)
	}
	// Known by its old name, it is ours to finish.
	tab.snap.Options.Aliases = []lake.Root{{Scheme: "file", Path: "lake/cow_v9_part/commits/table"}}
	plan, err := tab.Plan(t.Context(), configOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := dead(t, plan); !slices.Equal(files, p.Deleted) || plan.Resumes == "" {
		t.Errorf("%d files, resumes %q", len(files), plan.Resumes)
	}
}

func TestAnEmptyPendingPlanIsPassedOver(t *testing.T) {
	c := load(t, "cow_v9_part")
	p := c.Expected.Policies["commits"]
	c.Table.Put(".hoodie/timeline/20260601100000000.clean.requested", nil, time.Time{})
	tab := openAt(t, c.Table, p.Now)
	plan, err := tab.Plan(t.Context(), configOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := dead(t, plan); !slices.Equal(files, p.Deleted) {
		t.Errorf("%d files of %d", len(files), len(p.Deleted))
	}
	c.Table.Put(".hoodie/timeline/20260601100000000.clean.requested", []byte("Obj\x01x"), time.Time{})
	if _, err := openAt(t, c.Table, p.Now).Plan(t.Context(), configOf(t, p)); lake.KindOf(err) != lake.Damaged {
		t.Errorf("an unreadable plan: %v", err)
	}
}
