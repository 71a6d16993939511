package reap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
)

var (
	now    = time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	cutoff = now.Add(-168 * time.Hour)
	aged   = cutoff.Add(-time.Hour) // of objects that may die
	root   = lake.Root{Scheme: "mem", Path: "t"}
	shelf  = lake.Root{Scheme: "mem", Path: "shelf/p1"}
)

func clock() time.Time { return now }

// world is a table in a store, a quarantine beside it and a place for journals.
type world struct {
	t        testing.TB
	table    *mem.Store
	shelf    *mem.Store
	journals *mem.Store
	faults   *store.Faults // between a run and all three; nil: none
	live     map[string]store.Info
	rows     []lake.Verdict
	head     filelist.Head
	watch    *guardian
	record   *recorder
	opt      reap.Options
	outcomes map[string]string
}

// newWorld makes a table with a log, the files that live, and those that are dead.
func newWorld(t testing.TB, traits store.Traits, dead ...string) *world {
	t.Helper()
	w := &world{t: t, live: map[string]store.Info{}, watch: &guardian{}, outcomes: map[string]string{}}
	w.table = mem.New(mem.Options{Traits: traits, Now: clock})
	w.shelf = mem.New(mem.Options{Traits: traits, Now: clock})
	w.journals = mem.New(mem.Options{Now: clock})
	for _, name := range []string{"_delta_log/0.json", "_delta_log/1.json", "live-1", "p=1/live-2", "p=10/live-3", "_tmp/x", "p=1x"} {
		w.table.Put(name, []byte(name), aged)
		info, err := w.table.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		w.live[name] = info
	}
	slices.Sort(dead)
	for _, name := range dead {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			w.table.Put(name, nil, aged)
			w.rows = append(w.rows, lake.Verdict{Key: lake.Key(dir), Directory: true, Size: -1, Modified: aged, Reason: lake.EmptyDirectory})
			continue
		}
		w.table.Put(name, []byte(name), aged)
		info, err := w.table.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		w.rows = append(w.rows, lake.Verdict{Key: lake.Key(name), Size: info.Size, Modified: info.Modified, ETag: info.ETag, Reason: lake.Orphan})
	}
	slices.SortFunc(w.rows, func(a, b lake.Verdict) int { return strings.Compare(string(a.Key), string(b.Key)) })
	w.head = filelist.Head{PlanID: "p1", Table: root.String(), Given: "t", TableID: "id", Format: "delta", Mode: "full", Created: now, Cutoff: cutoff,
		Evidence: filelist.Evidence{Listed: true, LiveExpected: 3, LiveSeen: 3, LiveFiles: 10_000, Retain: 168 * time.Hour, RetainTable: 168 * time.Hour}}
	w.record = &recorder{w: w}
	w.opt = reap.Options{Workers: 1, Now: clock, Outcome: func(o reap.Outcome) { w.outcomes[string(o.Key)] = o.Outcome }}
	return w
}

// through returns s as a run sees it.
func (w *world) through(s store.Store) store.Store {
	s = directories{s}
	if w.faults == nil {
		return s
	}
	return w.faults.Wrap(s)
}

func (w *world) cleared() guard.Cleared {
	w.t.Helper()
	h := w.head
	h.Totals.ByReason = map[string]filelist.Count{}
	for _, v := range w.rows {
		if v.Directory {
			h.Totals.DeadDirectories++
			continue
		}
		n := h.Totals.ByReason[string(v.Reason)]
		h.Totals.ByReason[string(v.Reason)] = filelist.Count{Objects: n.Objects + 1, Bytes: n.Bytes + max(v.Size, 0)}
		h.Totals.Dead++
		h.Totals.DeadBytes += max(v.Size, 0)
	}
	var err error
	if h.Guards, err = guard.Check(h, guard.Options{}); err != nil {
		w.t.Fatal(err)
	}
	p, err := plan.Hold(context.Background(), h, seq(w.rows), func() error { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := p.Close(); err != nil {
			w.t.Error(err)
		}
	})
	cleared, err := guard.Clear(p, guard.Identity{Root: root, Format: "delta", TableID: "id"})
	if err != nil {
		w.t.Fatal(err)
	}
	return cleared
}

func seq(rows []lake.Verdict) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		for _, v := range rows {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (w *world) log() filelist.Log {
	return reap.NewSegmentLog(w.through(w.journals), "runs/p1.jsonl", "mem:///journals/runs/p1.jsonl")
}

// apply runs the plan, with the journal of the runs before it.
func (w *world) apply(ctx context.Context, cleared guard.Cleared) (reap.Result, error) {
	head := filelist.JournalHead{PlanID: w.head.PlanID, Table: w.head.Table, Created: now}
	o := w.opt
	if o.Quarantine != nil {
		q := *o.Quarantine
		q.Store = w.through(w.shelf)
		o.Quarantine = &q
		head.Quarantine = q.Root.String()
	}
	j, err := filelist.OpenJournal(ctx, w.log(), head)
	if err != nil {
		return reap.Result{}, err
	}
	return reap.Run(ctx, reap.Job{Cleared: cleared, Place: w.through(w.table), Guardian: w.watch, Recorder: w.record, Journal: j}, o)
}

// records returns what the journal holds.
func (w *world) records() []filelist.Record {
	w.t.Helper()
	w.faults = nil
	j, err := filelist.ReadJournal(context.Background(), w.log())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var all []filelist.Record
	for r, err := range j.Records(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// sound checks what must hold after any run: what lives is as it was, and what
// is gone stands in the journal with its reason.
func (w *world) sound() {
	w.t.Helper()
	for name, want := range w.live {
		if have, err := w.table.Stat(context.Background(), name); err != nil || have != want {
			w.t.Errorf("%s: %+v, %v", name, have, err)
		}
	}
	journaled := map[lake.Key]bool{}
	for _, r := range w.records() {
		journaled[r.Key] = r.Reason != ""
	}
	for _, v := range w.rows {
		if !w.exists(v) && !journaled[v.Key] {
			w.t.Errorf("%s is gone and not in the journal", v.Key)
		}
	}
}

func (w *world) exists(v lake.Verdict) bool {
	name := string(v.Key)
	if v.Directory {
		name += "/"
	}
	return slices.Contains(w.table.Names(), name)
}

func (w *world) left() []string {
	var names []string
	for _, v := range w.rows {
		if w.exists(v) {
			names = append(names, string(v.Key))
		}
	}
	return names
}

// guardian protects keys from the given refresh on.
type guardian struct {
	refreshes int
	protects  map[lake.Key]int
	err       error
	errAt     int // the refresh that fails
	refreshed func()
	inRefresh sync.Mutex
}

func (g *guardian) Refresh(context.Context) error {
	g.inRefresh.Lock()
	defer g.inRefresh.Unlock()
	g.refreshes++
	if g.refreshed != nil {
		g.refreshed()
	}
	if g.err != nil && g.refreshes >= g.errAt {
		return g.err
	}
	return nil
}

func (g *guardian) Protected(k lake.Key) bool {
	from, ok := g.protects[k]
	return ok && g.refreshes >= from
}

// recorder writes to the log through the same faults as the run. It keeps what
// it was told, and finds fault with calls out of order.
type recorder struct {
	w         *world
	state     string
	confirmed map[lake.Key]bool
	result    table.Result
	n         int
	confirms  func(int)
}

func (r *recorder) write(what string) error {
	r.n++
	return r.w.through(r.w.table).PutIfAbsent(context.Background(), fmt.Sprintf("_delta_log/%s-%d", what, r.n), nil)
}

func (r *recorder) Begin(_ context.Context, i table.Intent) error {
	if i.PlanID != r.w.head.PlanID {
		r.w.t.Errorf("began %+v", i)
	}
	r.state, r.confirmed = "begun", map[lake.Key]bool{}
	return r.write("begin")
}

func (r *recorder) Confirm(_ context.Context, keys []lake.Key) error {
	if r.state != "begun" || len(keys) == 0 {
		r.w.t.Errorf("confirm %q when %s", keys, r.state)
	}
	if r.confirms != nil {
		r.confirms(len(keys))
	}
	for _, k := range keys {
		if r.w.exists(lake.Verdict{Key: k}) {
			r.w.t.Errorf("confirmed %s, which is there", k)
		}
		r.confirmed[k] = true
	}
	return nil
}

func (r *recorder) Complete(_ context.Context, res table.Result) error { return r.end("complete", res) }
func (r *recorder) Fail(_ context.Context, res table.Result) error     { return r.end("fail", res) }

func (r *recorder) end(how string, res table.Result) error {
	if r.state != "begun" {
		r.w.t.Errorf("%s when %s", how, r.state)
	}
	r.state, r.result = how, res
	return r.write(how)
}

func journalFile(t testing.TB) *filelist.FileLog {
	t.Helper()
	l := filelist.NewFileLog(filepath.Join(t.TempDir(), "run.jsonl"))
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func poor() store.Traits {
	t := mem.Default()
	t.IfMatch = false
	return t
}

func small(t store.Traits) store.Traits {
	t.DeleteBatch = 2
	return t
}

// directories shows markers as the directories of a disk.
type directories struct{ store.Store }

func (d directories) Unwrap() store.Store { return d.Store }

func (d directories) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := d.Store.Stat(ctx, name)
	if marker, markerErr := d.Store.Stat(ctx, name+"/"); err != nil && markerErr == nil {
		marker.Kind = store.Dir
		return marker, nil
	}
	return info, err
}
