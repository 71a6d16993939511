package sweep

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

const hour, week = time.Hour, 7 * 24 * time.Hour

// world is a Delta table on the local disk with real files and times, and an
// engine whose clock the test sets.
type world struct {
	*deltatest.Log
	t     *testing.T
	dir   string
	now   time.Time
	e     *Engine
	wrap  func(store.Store) store.Store
	given string // how the table is named, the folder unless set
}

// clocked gives a local store the test's clock.
type clocked struct {
	store.Store
	now func() time.Time
}

func (c *clocked) Unwrap() store.Store { return c.Store }

func (c *clocked) Status(ctx context.Context) (store.Status, error) {
	st, err := c.Store.Status(ctx)
	st.Now = c.now()
	return st, err
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "t"), now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Log = deltatest.New(t, deltatest.Dir(w.dir))
	w.e = w.engine()
	return w
}

func (w *world) engine() *Engine {
	now := func() time.Time { return w.now }
	return &Engine{
		Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}, Wrap: func(_ lake.Root, s store.Store) store.Store {
			s = &clocked{s, now}
			if w.wrap != nil {
				s = w.wrap(s)
			}
			return s
		}},
		Now: now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), StateDir: w.t.TempDir(), Tool: "lakesweep test", Getwd: os.Getwd,
	}
}

// ago is an instant before the table's now.
func (w *world) ago(d time.Duration) time.Time { return w.now.Add(-d) }

// file writes a data file of 9 bytes, as old as it says.
func (w *world) file(name string, age time.Duration) { w.t.Helper(); w.Data(name, 9, w.ago(age)) }

// folder makes an empty directory, as old as it says.
func (w *world) folder(name string, age time.Duration) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(p, 0o755), os.Chtimes(p, w.ago(age), w.ago(age))); err != nil {
		w.t.Fatal(err)
	}
}

// commit writes the next version as of some time ago.
func (w *world) commit(age time.Duration, actions ...deltatest.Action) int64 {
	w.t.Helper()
	return w.Commit(w.ago(age), actions...)
}

// live writes a data file and commits it.
func (w *world) live(name string, age time.Duration) {
	w.t.Helper()
	w.file(name, age)
	w.commit(age, deltatest.NewAdd(name, 9))
}

// removed commits a remove with the commit's own time.
func (w *world) removed(name string, age time.Duration) {
	w.t.Helper()
	w.commit(age, deltatest.NewRemove(name, w.ago(age)))
}

func (w *world) table() string {
	if w.given != "" {
		return w.given
	}
	return w.dir
}

// request asks for a plan with a retention, in a mode, whatever the guards on
// retention and shares say.
func (w *world) request(retain time.Duration, mode string) PlanRequest {
	return PlanRequest{Table: w.table(), Format: "delta", Retain: &retain, Mode: mode, Unsafe: Unsafe{RetainBelow: w.table(), MostlyDead: w.table()}}
}

// plan plans, and ends the test if that fails.
func (w *world) plan(req PlanRequest) *plan.Plan {
	w.t.Helper()
	p, err := w.e.Plan(w.t.Context(), req, "")
	if err != nil {
		w.t.Fatalf("plan: %v", err)
	}
	w.t.Cleanup(func() { closePlan(w.t, p) })
	return p
}

// dead returns the names in a plan, directories with a trailing slash.
func (w *world) dead(p *plan.Plan) (names []string) {
	w.t.Helper()
	for v, err := range p.Rows() {
		if err != nil {
			w.t.Fatal(err)
		}
		name := string(v.Key)
		if v.Directory {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// wants plans and compares what is dead.
func (w *world) wants(req PlanRequest, want ...string) *plan.Plan {
	w.t.Helper()
	p := w.plan(req)
	slices.Sort(want)
	if got := w.dead(p); !slices.Equal(got, want) {
		w.t.Errorf("the plan holds %q, want %q", got, want)
	}
	return p
}

// apply carries a plan out.
func (w *world) apply(p *plan.Plan, req ApplyRequest) (Result, error) {
	w.t.Helper()
	return w.e.Apply(w.t.Context(), p, req, nil)
}

// vacuum plans and applies, and ends the test if either fails.
func (w *world) vacuum(req PlanRequest) Result {
	w.t.Helper()
	r, err := w.apply(w.plan(req), ApplyRequest{})
	if err != nil {
		w.t.Fatalf("apply: %v", err)
	}
	return r
}

// fails plans and applies, and checks with which kind the first of them fails.
func (w *world) fails(req PlanRequest, kind lake.Kind, says ...string) {
	w.t.Helper()
	p, err := w.e.Plan(w.t.Context(), req, "")
	if err == nil {
		defer closePlan(w.t, p)
		_, err = w.apply(p, ApplyRequest{})
	}
	if err == nil || lake.KindOf(err) != kind {
		w.t.Errorf("got %v (%v), want %v", err, lake.KindOf(err), kind)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			w.t.Errorf("%v doesn't say %q", err, s)
		}
	}
	if lake.HintOf(err) == "" {
		w.t.Errorf("no hint in %v", err)
	}
}

// has checks which paths are there (directories count) and, with a leading
// "!", which aren't.
func (w *world) has(names ...string) {
	w.t.Helper()
	for _, name := range names {
		name, not := strings.CutPrefix(name, "!")
		_, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
		if there := err == nil; there == not {
			w.t.Errorf("%q is there: %v", name, there)
		}
	}
}
