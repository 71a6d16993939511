package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// The index of a quarantine lies beside it: what the machine that ran knew may
// be lost with it.
func TestTheJournalOfAQuarantineLiesBesideIt(t *testing.T) {
	w := newHudiWorld(t, 5)
	e, quarantine := w.engine(), filepath.Join(t.TempDir(), "quarantine")
	p, err := e.Plan(t.Context(), w.request(HudiRequest{RetainCommits: 2, NoOtherWriters: true}), "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Apply(t.Context(), p, ApplyRequest{Quarantine: quarantine}, nil)
	if err != nil || r.Quarantined != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	id := p.Head().PlanID
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if want := filepath.Join(quarantine, id+".journal"); r.Journal != want || !slices.Equal(names(t, quarantine), []string{id, id + ".journal"}) || len(names(t, e.StateDir)) > 0 {
		t.Fatalf("the journal is %s, not %s; %q", r.Journal, want, names(t, quarantine))
	}
	if r, err := w.engine().Restore(t.Context(), UndoRequest{Journal: r.Journal}, nil); err != nil || r.Restored != 2 {
		t.Errorf("restored on another machine: %+v, %v", r, err)
	}
}

func TestThePlaceOfAOneShotRunsJournal(t *testing.T) {
	w := newHudiWorld(t, 5)
	e := w.engine()
	clean := func(h HudiRequest) (Result, string) {
		h.NoOtherWriters = true
		p, err := e.Plan(t.Context(), w.request(h), "")
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Apply(t.Context(), p, ApplyRequest{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		return r, p.Head().PlanID
	}
	r, id := clean(HudiRequest{RetainCommits: 2})
	if r.Journal != filepath.Join(e.StateDir, "table-"+id+".journal") {
		t.Errorf("%q", r.Journal)
	}
	if r, _ = clean(HudiRequest{RetainCommits: 2}); r.Journal != "" || len(names(t, e.StateDir)) != 1 {
		t.Errorf("nothing was to be done, journaled in %q; %q", r.Journal, names(t, e.StateDir))
	}
}

// A run that could have no journal is refused before it plans, from a listing
// or from an inventory.
func TestARunWithoutAStateDirectory(t *testing.T) {
	w, listed := newHudiWorld(t, 5), newWorld(t)
	listed.live("a", 10*24*time.Hour)
	inventory := inventoryFile(t, "path,size,modified\n"+listed.dir+"/a,9,2026-05-22T12:00:00Z\n")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "state")} {
		e := w.engine()
		e.StateDir = dir
		for rule, c := range map[string]struct {
			at      *ApplyRequest
			refused bool
		}{"a plan alone": {nil, false}, "a run": {&ApplyRequest{}, true}, "a journal of its own": {&ApplyRequest{Journal: "x"}, false}, "a quarantine": {&ApplyRequest{Quarantine: "q"}, false}} {
			cleaned := w.request(HudiRequest{RetainCommits: 2, NoOtherWriters: true})
			swept := listed.request(24*time.Hour, "full")
			swept.Inventory = InventoryRequest{Source: inventory, Taken: listed.now}
			for _, req := range []PlanRequest{cleaned, swept} {
				req.AtOnce = c.at
				p, err := e.Plan(t.Context(), req, "")
				if refused := lake.KindOf(err) == lake.Invalid && err != nil; refused != c.refused || refused && !strings.Contains(lake.HintOf(err), "--state-dir") {
					t.Errorf("%s, %q: %v", rule, req.Inventory.Source, err)
				}
				if err == nil {
					if err := p.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}
