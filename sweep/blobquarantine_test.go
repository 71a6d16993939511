package sweep

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

const holds = "table/.hoodie/.aux/clean/quarantines/*"

// away moves what expired to a quarantine, and leaves blobs alone.
func (w *blobWorld) away() Result {
	w.t.Helper()
	req := w.request()
	req.Hudi.Blobs = BlobRequest{}
	p, err := w.engine().Plan(w.tb.Context(), req, "")
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a temporary file
	r, err := w.engine().Apply(w.tb.Context(), p, ApplyRequest{Quarantine: w.path("quarantine")}, nil)
	if err != nil || r.Quarantined == 0 {
		w.t.Fatalf("%+v, %v", r, err)
	}
	w.date()
	return r
}

// quarantined is a table of which a slice that refers to X lies in a quarantine,
// and X is queued, as the last slice that stood there and referred to it went.
func quarantined(t *testing.T) (*blobWorld, Result) {
	w := newBlobWorld(t, t)
	w.upload("X", "Y")
	w.pass(72)
	w.commit(map[string][]string{"1a": {"X"}, "2b": {"X"}})
	w.commit(map[string][]string{"1a": {"Y"}})
	w.commit(map[string][]string{"1a": {"Y"}})
	r := w.away()
	for range 2 {
		w.commit(map[string][]string{"2b": {"Y"}})
	}
	w.mustClean()
	if w.queued() != "X" || len(w.files(holds)) != 1 {
		t.Fatalf("queued %q, held by %q", w.queued(), w.files(holds))
	}
	return w, r
}

// While slices lie in a quarantine no blob dies: put back, they refer to theirs
// again. Once it is purged the blobs die.
func TestBlobsWaitForAQuarantine(t *testing.T) {
	waits := func(w *blobWorld) {
		t.Helper()
		w.pass(30)
		p, err := w.engine().Plan(w.tb.Context(), w.request(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close() //nolint:errcheck // a temporary file
		if h := p.Head(); !slices.ContainsFunc(h.Evidence.Warnings, func(s string) bool {
			return strings.Contains(s, "1 blobs that are due wait") && strings.Contains(s, w.path("quarantine"))
		}) {
			t.Errorf("%q", h.Evidence.Warnings)
		}
		if r := w.mustClean(); r.Deleted+r.Failed+r.Spared != 0 || !w.there("X") || w.queued() != "X" {
			t.Fatalf("%+v, left %q, queued %q", r, w.blobs(), w.queued())
		}
	}
	t.Run("restored", func(t *testing.T) {
		w, r := quarantined(t)
		waits(w)
		if _, err := w.engine().Restore(t.Context(), UndoRequest{Journal: r.Journal, Paths: []string{"none"}}, nil); lake.KindOf(err) != lake.Invalid || len(w.files(holds)) != 1 {
			t.Errorf("a restore that was refused: %v", err)
		}
		if put, err := w.engine().Restore(t.Context(), UndoRequest{Journal: r.Journal}, nil); err != nil || put.Restored != 1 || len(w.files(holds)) > 0 {
			t.Fatalf("%+v, %v, held by %q", put, err, w.files(holds))
		}
		req := w.request()
		req.Hudi.RetainCommits = 10 // the restored slice stays
		if r, err := w.clean(req); err != nil || r.Deleted != 0 || w.blobs() != "X Y" || w.queued() != "" {
			t.Errorf("%+v, %v, left %q, queued %q", r, err, w.blobs(), w.queued())
		}
	})
	t.Run("purged", func(t *testing.T) {
		w, r := quarantined(t)
		waits(w)
		if gone, err := w.engine().Purge(t.Context(), UndoRequest{Journal: r.Journal, OlderThan: 1000 * time.Hour}, nil); err != nil || gone.Purged != 0 || len(w.files(holds)) != 1 {
			t.Errorf("nothing is old enough: %+v, %v", gone, err)
		}
		waits(w)
		if gone, err := w.engine().Purge(t.Context(), UndoRequest{Journal: r.Journal}, nil); err != nil || gone.Purged != 1 || len(w.files(holds)) > 0 {
			t.Fatalf("%+v, %v, held by %q", gone, err, w.files(holds))
		}
		if r := w.mustClean(); r.Deleted != 1 || w.blobs() != "Y" || w.queued() != "" {
			t.Errorf("%+v, left %q, queued %q", r, w.blobs(), w.queued())
		}
	})
	t.Run("of a table that shares the blobs", func(t *testing.T) {
		w, _ := quarantined(t)
		other := newBlobWorld(t, t)
		other.put("table/.hoodie/.aux/clean/quarantines/p.json", `{"schema":1,"plan_id":"p","quarantine":"/q/p","journal":"/q/p.journal"}`)
		w.remove(filepath.Join("table/.hoodie/.aux/clean/quarantines", w.files(holds)[0]))
		req := w.request()
		req.Hudi.Blobs.Also = []string{other.table()}
		w.pass(30)
		if r, err := w.clean(req); err != nil || r.Deleted != 0 || !w.there("X") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// A quarantine that is begun while blobs are judged saves them: the files that
// were judged may not have been all.
func TestAQuarantineWhileBlobsAreJudged(t *testing.T) {
	w := expired(t)
	w.mustClean()
	w.pass(30)
	p, err := w.engine().Plan(t.Context(), w.request(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a temporary file
	asked, begun := false, false
	w.faults = store.NewFaults(func(c store.Call) store.Injection {
		asked = asked || c.Op == "list" && strings.Contains(c.Name, "quarantines")
		if asked && !begun && c.Op == "list" && strings.HasPrefix(c.Name, "p=") {
			begun = true
			w.put("table/.hoodie/.aux/clean/quarantines/p.json", `{"schema":1,"plan_id":"p"}`)
		}
		return store.Injection{}
	})
	r, err := w.engine().Apply(t.Context(), p, ApplyRequest{}, nil)
	if !begun || lake.KindOf(err) != lake.Partial || r.Deleted != 0 || !w.there("X") || w.queued() != "X" {
		t.Errorf("begun: %t; %+v, %v, left %q, queued %q", begun, r, err, w.blobs(), w.queued())
	}
}

// A quarantine holds blobs of tables alone whose records can refer to some, by
// the logical type or by a struct of its shape.
func TestAQuarantineHoldsBlobsOnlyWhereThereMayBeSome(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		held   bool
	}{
		"the logical type":   {blobtest.Schema, true},
		"its shape alone":    {strings.ReplaceAll(blobtest.Schema, `"logicalType":"blob",`, ""), true},
		"neither":            {`{"type":"record","name":"r","fields":[{"name":"img","type":"string"}]}`, false},
		"no schema is known": {"", true},
		"it can't be read":   {"{", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.schema = c.schema
			for range 3 {
				w.commit(map[string][]string{"1a": {"X"}})
			}
			r := w.away()
			if held := len(w.files(holds)) == 1; held != c.held {
				t.Errorf("held: %t", held)
			}
			if !c.held && slices.ContainsFunc(w.files("table/.hoodie/*"), func(s string) bool { return strings.HasPrefix(s, ".aux") }) {
				t.Error("a table without blobs got a folder")
			}
			w.pass(1)
			if _, err := w.engine().Purge(t.Context(), UndoRequest{Journal: r.Journal}, nil); err != nil || len(w.files(holds)) > 0 {
				t.Errorf("purged: %v, held by %q", err, w.files(holds))
			}
		})
	}
}

// A plan that went on with another quarantine or another journal has slices in
// two: to empty one ends no hold of the other.
func TestTwoQuarantinesOfOnePlanHoldBlobsEach(t *testing.T) {
	for name, second := range map[string]ApplyRequest{
		"another quarantine": {Quarantine: "other"},
		"another journal":    {Quarantine: "quarantine", Journal: "other.journal"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("X", "Y")
			w.pass(72)
			w.commit(map[string][]string{"1a": {"X"}, "2b": {"X"}})
			for range 2 {
				w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Y"}})
			}
			req := w.request()
			req.Hudi.Blobs = BlobRequest{}
			p := w.plan(req)
			one, err := w.engine().Apply(t.Context(), p, ApplyRequest{Quarantine: w.path("quarantine"), MaxDelete: 1}, nil)
			if lake.KindOf(err) != lake.Limit || one.Quarantined != 1 {
				t.Fatalf("%+v, %v", one, err)
			}
			w.tick(time.Second)
			second.Quarantine = w.path(second.Quarantine)
			if second.Journal != "" {
				second.Journal = w.path(second.Journal)
			}
			two, err := w.engine().Apply(t.Context(), p, second, nil)
			if err != nil || two.Quarantined != 1 || two.Journal == one.Journal {
				t.Fatalf("%+v, %v", two, err)
			}
			for left, r := range []Result{two, one} {
				w.pass(1)
				if gone, err := w.engine().Purge(t.Context(), UndoRequest{Journal: r.Journal}, nil); err != nil || gone.Purged != 1 || len(w.files(holds)) != 1-left {
					t.Errorf("%+v, %v, held by %q", gone, err, w.files(holds))
				}
			}
		})
	}
}
