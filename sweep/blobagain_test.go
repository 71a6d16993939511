package sweep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

// A writer that asks knows neither --blob-root nor --map of the run that deletes:
// what this counts as one blob conflicts all the same.
func TestCheckCommitSeesTheSpellingsOfTheRun(t *testing.T) {
	w := expired(t)
	w.mustClean()
	asks := func(path string) int {
		c, err := w.engine().CheckCommit(context.Background(), CheckRequest{Plan: PlanRequest{Table: w.table()}, Paths: strings.NewReader(path)})
		if err != nil {
			t.Fatal(err)
		}
		return len(c.Conflicts)
	}
	check := func() {
		t.Helper()
		for path, conflicts := range map[string]int{"s3://media/X": 1, "s3a://media/./X": 1, "/X": 1, "X": 1, w.path("blobs/X"): 1, "file://" + w.path("blobs/X"): 1, "/Y": 0, "s3://others/X": 0} {
			if got := asks(path); got != conflicts {
				t.Errorf("%s: %d conflicts", path, got)
			}
		}
	}
	check() // the sidecar of the clean
	w.pass(30)
	w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
	w.mustClean()
	if err := os.RemoveAll(w.path("table/.hoodie/.aux/clean/pending_blob_deletes")); err != nil {
		t.Fatal(err)
	}
	for _, name := range w.files("table/.hoodie/.aux/clean/*.blob_deletes.parquet") {
		if err := os.Remove(w.path("table/.hoodie/.aux/clean/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	check() // the intent of the drain
}
