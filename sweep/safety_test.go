package sweep

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/store"
)

var histories = flag.Int("histories", 300, "random histories of the safety suite")
var firstSeed = flag.Uint64("seed", 0, "seed of the first history, 0: of the day")

// oneStore opens the table's place and finds nothing elsewhere.
type oneStore struct {
	root  lake.Root
	st    store.Store
	empty store.Store
}

func (o oneStore) OpenReader(ctx context.Context, root lake.Root) (store.Reader, error) {
	s, err := o.OpenStore(ctx, root)
	return store.ReadOnly(s), err
}

func (o oneStore) OpenStore(_ context.Context, root lake.Root) (store.Store, error) {
	if root.Same(o.root) {
		return o.st, nil
	}
	return o.empty, nil
}

// many is how many histories to run.
func many() int {
	if testing.Short() {
		return min(*histories, 30)
	}
	return *histories
}

// firstOf is the seed of the first of some random histories.
func firstOf(t *testing.T, n int) uint64 {
	t.Helper()
	seed := *firstSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) >> 20
	}
	t.Logf("seeds %d to %d", seed, seed+uint64(n)-1)
	return seed
}

// hudiFirst is firstOf for the models of Hudi, which have rules of their own to
// keep: without -seed they always run the same histories.
func hudiFirst(t *testing.T, n int) uint64 {
	t.Helper()
	if *firstSeed == 0 {
		return 500000
	}
	return firstOf(t, n)
}

// inParallel runs n histories, one for each seed from first on. One that fails
// says how to run it again.
func inParallel(t *testing.T, n int, first uint64, run func(t *testing.T, seed uint64)) {
	name := t.Name()
	for seed := first; seed < first+uint64(n); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Failed() {
					t.Logf("again: go test ./sweep -run '^%s$' -histories 1 -seed %d", name, seed)
				}
			}()
			run(t, seed)
		})
	}
}

const modelTable = "mem://x/t"

func (m *model) engine(t testing.TB, st store.Store) *Engine {
	root, err := lake.ParseRoot(modelTable)
	if err != nil {
		t.Fatal(err)
	}
	m.pass(0) // the clock starts where the model stands
	return &Engine{Stores: oneStore{root, st, m.elsewhere}, Now: m.time,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), StateDir: t.TempDir(), Tool: "lakesweep test"}
}

func (m *model) request(retain time.Duration, mode string) PlanRequest {
	return PlanRequest{Table: modelTable, Retain: &retain, Mode: mode,
		Unsafe: Unsafe{RetainBelow: modelTable, MostlyDead: modelTable}}
}

// applying keeps the journal in another store: no disk, no fsync.
func applying(p *plan.Plan) ApplyRequest {
	return ApplyRequest{Journal: "mem://x/journals/" + p.Head().PlanID}
}

// vacuum plans and applies; refusals to plan are fine, everything else isn't.
func (m *model) vacuum(t testing.TB, e *Engine, req PlanRequest) (deleted int64, refused bool) {
	ctx := context.Background()
	p, err := e.Plan(ctx, req, "")
	if refusedByName(err) {
		return 0, true
	}
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	defer closePlan(t, p)
	if h := p.Head(); h.Mode == "full" && (h.Totals.ProtectedLive == nil || *h.Totals.ProtectedLive != m.live()) {
		t.Fatalf("%+v, but %d files are live", h.Totals, m.live())
	}
	r, err := e.Apply(ctx, p, applying(p), nil)
	if refusedByName(err) {
		return 0, true
	}
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return r.Deleted, false
}

func refusedByName(err error) bool {
	return err != nil && slices.Contains([]lake.Kind{lake.Refused, lake.Stale}, lake.KindOf(err))
}

func closePlan(t testing.TB, p *plan.Plan) {
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// check asserts that whatever a retained version needs is there.
func (m *model) check(t testing.TB, cutoff time.Time, what string) {
	t.Helper()
	m.sync()
	names := m.names()
	for name, v := range m.needed(cutoff) {
		if !names[name] && !m.lostBefore[name] {
			t.Fatalf("%s: lost %q of version %d (cutoff %s, now %s)", what, name, v, cutoff, m.now)
		}
	}
}

// accept takes what older, shorter retentions deleted for lost: later cutoffs that reach back behind them can't ask for it.
func (m *model) accept(cutoff time.Time) {
	names := m.names()
	for _, v := range m.versions {
		for p, dv := range v.files {
			for _, n := range []string{p, dv} {
				if n != "" && !names[n] {
					m.lostBefore[n] = true
				}
			}
		}
		for _, c := range v.cdc {
			m.lostBefore[c] = m.lostBefore[c] || !names[c]
		}
	}
}

// garbage returns what nothing could want: visible, old, and of no version from cutoff on.
func (m *model) garbage(cutoff time.Time) (out []string) {
	needed := m.needed(cutoff)
	for _, n := range m.st.Names() {
		info, err := m.st.Stat(context.Background(), n)
		if err != nil {
			panic(err)
		}
		_, ok := needed[n]
		if !ok && !strings.HasPrefix(n, "_delta_log/") && info.Modified.Before(cutoff) {
			out = append(out, n)
		}
	}
	return out
}

// TestRandomHistories lets a model writer and lakesweep work on one table. No
// file of a retained version may go; all garbage goes in the end; a second run
// with nothing newly due deletes nothing.
func TestRandomHistories(t *testing.T) {
	inParallel(t, many(), firstOf(t, many()), history)
}

func history(t *testing.T, seed uint64) {
	m := newModel(seed)
	spelled := map[string]string{}
	e := m.engine(t, m.st)
	for range 6 + m.rng.IntN(14) {
		m.tick()
		m.step(spelled)
		if m.rng.IntN(5) == 0 {
			retain := time.Duration(m.rng.IntN(72)) * time.Hour
			m.vacuum(t, e, m.request(retain, []string{"full", "full", "lite", "auto"}[m.rng.IntN(4)]))
			m.check(t, m.now.Add(-retain), "vacuum")
			m.accept(m.now.Add(-retain))
		}
	}
	m.pass(100 * 24 * time.Hour)
	cutoff := m.now.Add(-24 * time.Hour)
	if _, refused := m.vacuum(t, e, m.request(24*time.Hour, "full")); refused {
		t.Fatal("the last vacuum was refused")
	}
	m.check(t, cutoff, "last vacuum")
	if g := m.garbage(cutoff); len(g) > 0 {
		t.Fatalf("garbage stays: %q", g)
	}
	if n, _ := m.vacuum(t, e, m.request(24*time.Hour, "full")); n != 0 {
		t.Fatalf("a second run deletes %d", n)
	}
}
