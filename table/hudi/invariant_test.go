package hudi

import (
	"slices"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
)

// Whatever a table's history and the policy: no retained commit loses a file,
// nor does a savepoint, a pending plan or a write in flight.
func TestNothingNeededEverDies(t *testing.T) {
	died := 0
	for seed := range uint64(150) {
		s := mem.New(mem.Options{})
		m := newModel(t, seed, s.Put)
		for range 10 + m.rng.IntN(25) {
			m.step()
		}
		for _, c := range []Config{m.config(LatestCommits), m.config(LatestVersions), m.config(LatestHours)} {
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

// needed returns the files that somebody needs, by a slow look at the model's
// whole history.
func (m *model) needed(p *Plan) map[string]string {
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
