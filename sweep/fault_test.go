package sweep

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// grown returns a table after a random history, always the same for a seed,
// with garbage of every kind and a cutoff that splits it.
func grown(seed uint64) (*model, map[string]string, time.Duration) {
	m, spelled := newModel(seed), map[string]string{}
	for range 12 {
		m.tick()
		m.step(spelled)
	}
	m.pass(20 * time.Hour)
	return m, spelled, 30 * time.Hour
}

var errFault = errors.New("fault of the test")

// TestFaultAtEveryStoreCall fails, and kills, plan and apply at their n-th
// store call, for every n, before and after the call takes effect. Then the
// same command runs again undisturbed. Nothing needed is ever gone, all
// garbage is gone in the end, and a third run deletes nothing.
func TestFaultAtEveryStoreCall(t *testing.T) {
	for seed := range uint64(max(many()/500, 2)) {
		for _, kill := range []bool{false, true} {
			for _, when := range []store.Moment{store.Before, store.Half, store.After} {
				t.Run(fmt.Sprintf("seed %d kill %v moment %d", seed, kill, when), func(t *testing.T) {
					t.Parallel()
					for n := int64(1); faultAt(t, seed, n, store.Injection{Err: errFault, Kill: kill, When: when}); n++ {
					}
				})
			}
		}
	}
}

// faultAt reports whether the n-th call was reached.
func faultAt(t *testing.T, seed uint64, n int64, i store.Injection) bool {
	m, _, retain := grown(seed)
	cutoff := m.now.Add(-retain)
	faults := store.NewFaults(store.FailNth(n, i))
	e := m.engine(t, faults.Wrap(m.st))
	m.tryVacuum(t, e, retain)
	what := fmt.Sprintf("fault at call %d", n)
	m.check(t, cutoff, what)
	// The lease that a killed run left is held by this very process, which runs on: it ends by its time.
	const lapse = 20 * time.Minute
	m.pass(lapse)
	retain += lapse
	clean := m.engine(t, m.st)
	if _, refused := m.vacuum(t, clean, m.request(retain, "full")); refused {
		t.Fatalf("%s: the next run is refused", what)
	}
	m.check(t, cutoff, what)
	if g := m.garbage(cutoff); len(g) > 0 {
		t.Fatalf("%s: garbage stays: %q", what, g)
	}
	if again, _ := m.vacuum(t, clean, m.request(retain, "full")); again != 0 {
		t.Fatalf("%s: a third run deletes %d", what, again)
	}
	return faults.Calls() >= n
}

// tryVacuum vacuums with errors taken as they come.
func (m *model) tryVacuum(t testing.TB, e *Engine, retain time.Duration) {
	ctx := context.Background()
	p, err := e.Plan(ctx, m.request(retain, "full"), "")
	if err != nil {
		return
	}
	defer closePlan(t, p)
	if _, err := e.Apply(ctx, p, applying(p), nil); err != nil {
		return
	}
}

// TestWriterBetweenAnySteps lets a writer commit just before the n-th store
// call of plan and apply, for every n: appends, removes, deletion vectors,
// compactions, checkpoints, restores. What its versions need is never gone.
// A path that it brings back from the dead after the log was last read is the
// one thing that nobody can save (law L6).
func TestWriterBetweenAnySteps(t *testing.T) {
	for seed := range uint64(max(many()/100, 3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			for n := int64(1); writerAt(t, seed, n); n++ {
			}
		})
	}
}

func writerAt(t *testing.T, seed uint64, n int64) bool {
	m, spelled, retain := grown(seed)
	cutoff := m.now.Add(-retain)
	before := m.needed(time.Time{})
	var revived map[string]bool // named by the writer's commit, until the log is read again
	faults := store.NewFaults(func(c store.Call) store.Injection {
		if c.N == n {
			m.sync()
			known, live := len(m.versions), m.needed(m.now)
			for range 3 {
				m.step(spelled)
			}
			revived = map[string]bool{}
			for _, v := range m.versions[known:] {
				for p, dv := range v.files {
					for _, name := range []string{p, dv} {
						_, was := live[name]
						revived[name] = revived[name] || !was
					}
				}
			}
		} else if c.Op == "list" && c.Name == "_delta_log/" {
			revived = nil
		}
		if c.Op == "delete" {
			for name, back := range revived {
				if _, old := before[name]; old && back {
					m.lostBefore[name] = true // may be
				}
			}
		}
		return store.Injection{}
	})
	m.tryVacuum(t, m.engine(t, faults.Wrap(m.st)), retain)
	m.check(t, cutoff, fmt.Sprintf("writer before call %d", n))
	return faults.Calls() >= n
}
