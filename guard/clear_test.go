package guard_test

import (
	"path/filepath"
	"testing"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
)

func TestClear(t *testing.T) {
	root := lake.Root{Scheme: "file", Path: "data/my table"}
	me := guard.Identity{Root: root, Format: "delta", TableID: "id"}
	for _, c := range []struct {
		rule string
		set  func(*filelist.Head)
		o    guard.Options
		now  guard.Identity
		want lake.Kind
		ok   bool
	}{
		{"a sound plan", func(*filelist.Head) {}, guard.Options{}, me, 0, true},
		{"an override given when planning", func(h *filelist.Head) { h.Evidence.Retain = 0 }, guard.Options{RetainBelow: given}, me, 0, true},
		{"a refused plan", func(h *filelist.Head) { h.Evidence.Retain = 0 }, guard.Options{}, me, lake.Refused, false},
		{"a table replaced", func(*filelist.Head) {}, guard.Options{}, guard.Identity{Root: root, Format: "delta", TableID: "other"}, lake.Stale, false},
		{"a table without an identity", func(h *filelist.Head) { h.TableID = "" }, guard.Options{}, guard.Identity{Root: root, Format: "delta"}, lake.Stale, false},
		{"another format", func(*filelist.Head) {}, guard.Options{}, guard.Identity{Root: root, Format: "hudi", TableID: "id"}, lake.Stale, false},
		{"another place", func(*filelist.Head) {}, guard.Options{}, guard.Identity{Root: lake.Root{Scheme: "file", Path: "x"}, Format: "delta", TableID: "id"}, lake.Invalid, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := emptied(sound())
			c.set(&h)
			guards, err := guard.Check(h, c.o)
			if err != nil {
				t.Fatal(err)
			}
			h.Guards = guards
			cleared, err := guard.Clear(written(t, h), c.now)
			if (err == nil) != c.ok || (cleared.Plan() != nil) != c.ok || err != nil && lake.KindOf(err) != c.want {
				t.Errorf("%v, %v", cleared, err)
			}
		})
	}
}

// A plan whose guards were left out, or say what the evidence contradicts, isn't cleared.
func TestClearAsksTheGuardsAgain(t *testing.T) {
	me := guard.Identity{Root: lake.Root{Scheme: "file", Path: "data/my table"}, Format: "delta", TableID: "id"}
	for _, c := range []struct {
		rule   string
		guards []filelist.Guard
		set    func(*filelist.Head)
	}{
		{"no guards", nil, func(h *filelist.Head) { h.Evidence.EnclosedBy = "/data" }},
		{"passed against the evidence", []filelist.Guard{{Code: "mostly_dead", Outcome: filelist.Passed}}, func(h *filelist.Head) { h.Evidence.LiveSeen = 0 }},
		{"an override where there is none", []filelist.Guard{{Code: "clock_skew", Outcome: filelist.Overridden}}, func(h *filelist.Head) { h.Evidence.ClockSkew = 1e15 }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := emptied(sound())
			c.set(&h)
			h.Guards = c.guards
			if cleared, err := guard.Clear(written(t, h), me); err == nil || lake.KindOf(err) != lake.Refused || cleared.Plan() != nil {
				t.Errorf("%v, %v", cleared, err)
			}
		})
	}
}

// emptied returns h for a plan without rows.
func emptied(h filelist.Head) filelist.Head {
	h.Totals.Dead, h.Totals.DeadBytes = 0, 0
	return h
}

func written(t *testing.T, h filelist.Head) *plan.Plan {
	t.Helper()
	p, err := plan.Create(t.Context(), filepath.Join(t.TempDir(), "plan.parquet"), h, func(func(lake.Verdict, error) bool) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
