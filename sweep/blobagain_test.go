package sweep

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/plan"
)

// plan plans into a file, which stays open until the test ends.
func (w *blobWorld) plan(req PlanRequest) *plan.Plan {
	w.t.Helper()
	p, err := w.engine().Plan(context.Background(), req, filepath.Join(w.tb.TempDir(), "x.plan"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = p.Close() })
	return p
}

// apply carries out a plan with one and the same journal, a minute after the
// run before.
func (w *blobWorld) apply(p *plan.Plan, req ApplyRequest) (Result, error) {
	w.t.Helper()
	w.tick(time.Minute)
	req.Journal = filepath.Join(w.dir, "journal")
	r, err := w.engine().Apply(context.Background(), p, req, nil)
	w.date()
	return r, err
}

// A plan whose clean is published queues its blobs no more: their grace time
// goes on, and one that was uploaded since is another object, which no clean let go.
func TestApplyingAgainQueuesNothingAnew(t *testing.T) {
	w := expired(t)
	p := w.plan(w.request())
	if _, err := w.apply(p, ApplyRequest{}); err != nil || w.queued() != "X" {
		t.Fatalf("queued %q: %v", w.queued(), err)
	}
	at := w.entries()[0].At
	w.pass(23)
	if _, err := w.apply(p, ApplyRequest{}); err != nil || len(w.entries()) != 1 || !w.entries()[0].At.Equal(at) {
		t.Fatalf("queued at %s, then %v: %v", at, w.entries(), err)
	}
	w.pass(25)
	w.upload("X")
	if r := w.mustClean(); r.Spared != 1 || w.queued() != "" {
		t.Fatalf("%+v, queued %q", r, w.queued())
	}
	w.pass(1)
	if _, err := w.apply(p, ApplyRequest{}); err != nil || w.queued() != "" {
		t.Fatalf("queued %q: %v", w.queued(), err)
	}
	w.pass(26)
	if w.mustClean(); !w.there("X") {
		t.Fatal("X, which was uploaded anew, is gone")
	}
}
