package hudi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// Whatever a table's history and the policy: no retained commit loses a file,
// nor does a savepoint, a pending plan or a write in flight.
func TestNothingNeededEverDies(t *testing.T) {
	died := 0
	for seed := range uint64(150) {
		s := mem.New(mem.Options{})
		m := newModel(t, seed, s.Put)
		m.drop = dropFrom(t, s)
		for range 10 + m.rng.IntN(25) {
			m.step()
		}
		for _, c := range []retain.Config{m.config(retain.LatestCommits), m.config(retain.LatestVersions), m.config(retain.LatestHours)} {
			p, err := openAt(t, s, m.clock()).Plan(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			files, dirs := dead(t, p)
			died += len(files)
			gone := make(map[string]bool)
			for _, f := range files {
				gone[f] = true
			}
			for f, why := range m.needed(p) {
				if gone[f] {
					t.Errorf("seed %d, %s: %s dies: %s\n%s", seed, c.Policy, f, why, strings.Join(m.trace, "\n"))
				}
			}
			for _, d := range dirs {
				for _, name := range s.Names() {
					if lake.Key(name).Below(lake.Key(d)) && !gone[name] {
						t.Errorf("seed %d, %s: the folder %s dies, %s is in it", seed, c.Policy, d, name)
					}
				}
			}
			if slices.Contains(dirs, "") {
				t.Errorf("seed %d: the table itself dies", seed)
			}
		}
	}
	if died == 0 {
		t.Error("nothing ever died")
	}
}

func dropFrom(t *testing.T, s *mem.Store) func(string) {
	return func(name string) {
		if err := s.Remove(t.Context(), name, ""); err != nil {
			t.Fatal(name, err)
		}
	}
}

// needed returns the files that somebody needs, by a slow look at the model's
// whole history.
func (m *model) needed(p *cleanplan.Plan) map[string]string {
	out := make(map[string]string)
	keep := func(g *modelGroup, s *modelSlice, why string) {
		for _, name := range append(slices.Clone(s.logs), s.base) {
			if name != "" {
				out[join(g.partition, name)] = why
			}
		}
	}
	for _, g := range m.groups {
		if g.replaced == "" {
			keep(g, g.slices[len(g.slices)-1], "a snapshot reads it")
		}
		for _, w := range m.writes {
			retained := p.Earliest != nil && w.time >= p.Earliest.Time
			if !retained || g.replaced != "" && g.replaced <= w.time {
				continue
			}
			if s := asOf(g, w.time); s != nil {
				keep(g, s, "the retained commit "+w.time+" reads it")
			}
		}
		for _, at := range m.saved {
			if s := asOf(g, at); s != nil && !(g.replaced != "" && g.replaced <= at) {
				if slices.ContainsFunc(m.writes, func(w modelWrite) bool { return w.time == at }) {
					keep(g, s, "the savepoint "+at+" holds it")
				}
			}
		}
	}
	return out
}

// asOf returns the slice that a reader as of an instant reads.
func asOf(g *modelGroup, at string) *modelSlice {
	for _, s := range slices.Backward(g.slices) {
		if s.instant <= at {
			return s
		}
	}
	return nil
}

// A writer goes on between any two steps of a clean, which is killed at some
// write: whatever is needed in the end is there, and no clean stays pending.
func TestWriterBetweenTheStepsOfAClean(t *testing.T) {
	for seed := range uint64(60) {
		s := mem.New(mem.Options{})
		m := newModel(t, seed, s.Put)
		m.drop = dropFrom(t, s)
		for range 10 + m.rng.IntN(15) {
			m.step()
		}
		for round := range 4 {
			k := &killer{s, m.rng.IntN(12)}
			c := m.config([]retain.Policy{retain.LatestCommits, retain.LatestVersions, retain.LatestHours}[m.rng.IntN(3)])
			e, err := prepareBy(t, s, lake.Root{Scheme: "mem", Authority: "x", Path: "t"}, k, c, m.clock, lock.None{})
			if err != nil {
				if lake.KindOf(err) == lake.Refused {
					break // a writer came to need a file of the pending clean: it has to be removed by hand
				}
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			m.between() // plan and publication
			err = e.carryOut(t.Context(), k)
			if kind := lake.KindOf(err); err != nil && kind != lake.Stale && !errors.Is(err, errKilled) {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			m.between() // this round and the next
			p, err := openAt(t, s, m.clock()).Plan(t.Context(), c)
			if err != nil && lake.KindOf(err) != lake.Refused {
				t.Fatal(err)
			}
			if err != nil {
				break
			}
			p.Earliest = nil // what time travel needs depends on the policy of each clean
			for f, why := range m.needed(p) {
				if _, err := s.Stat(t.Context(), f); err != nil {
					t.Fatalf("seed %d, round %d: %s is gone: %s\n%s", seed, round, f, why, strings.Join(m.trace, "\n"))
				}
			}
		}
	}
}

// between does what a writer may do while a clean is at work. Savepoints are
// left out: Hudi refuses those of commits that a clean, pending or complete,
// doesn't retain.
func (m *model) between() {
	at := m.tick()
	steps := []func(string) string{m.write, m.insert, m.compact, m.cluster, m.overwrite, m.dropPartition, m.fail, m.rollback, m.archive, m.pendCompaction, m.pendClustering}
	m.trace = append(m.trace, at+" between: "+steps[m.rng.IntN(len(steps))](at))
}
