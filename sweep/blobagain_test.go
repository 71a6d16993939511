package sweep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
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

// A blob that another run let go once more, while this one was judging it, waits
// for its grace time anew.
func TestABlobThatAnotherRunQueuedAnewWaits(t *testing.T) {
	w := expired(t)
	w.mustClean()
	w.pass(30)
	if _, err := w.during(w.request(), ends("stat", "X"), func() {
		w.commit(map[string][]string{"2b": {"X"}})
		w.commit(map[string][]string{"2b": {"Z"}})
		w.commit(map[string][]string{"2b": {"Z"}})
		w.mustClean()
	}); err != nil && lake.KindOf(err) != lake.Stale {
		t.Fatal(err)
	}
	if !w.there("X") || w.queued() != "X" {
		t.Fatalf("left %q, queued %q", w.blobs(), w.queued())
	}
	w.pass(23)
	if w.mustClean(); !w.there("X") {
		t.Fatal("X is gone before its grace time was over")
	}
	w.pass(2)
	if w.mustClean(); w.there("X") || w.queued() != "" {
		t.Fatalf("left %q, queued %q", w.blobs(), w.queued())
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

// several is a table whose clean lets six blobs go: a to f.
func several(t *testing.T) *blobWorld {
	w := newBlobWorld(t, t)
	w.upload("a", "b", "c", "d", "e", "f", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"a", "b", "c", "d", "e", "f"}})
	w.commit(map[string][]string{"1a": {"new"}})
	w.commit(map[string][]string{"1a": {"new"}})
	return w
}

// atOnce is a request whose blobs die in the run that queues them.
func (w *blobWorld) atOnce() PlanRequest {
	req, none := w.request(), time.Duration(0)
	req.Hudi.Blobs.Grace = &none
	return req
}

// A limit holds for the drains and the clean of a run together, and for this run
// alone; what it left goes in the next, and each blob that died is told once.
func TestBlobLimitsHoldForAWholeRun(t *testing.T) {
	for _, c := range []struct {
		name string
		due  bool // the blobs wait since an earlier clean
		own  [3]int64
	}{
		{"blobs that are due", true, [3]int64{3, 3, 1}},
		{"blobs that the run queues", false, [3]int64{3, 3, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := several(t)
			req := w.atOnce()
			if c.due {
				req = w.request()
				w.mustClean()
				w.pass(30)
				w.commit(map[string][]string{"1a": {"new"}})
			}
			p, before := w.plan(req), int64(0)
			for i, want := range c.own {
				r, err := w.apply(p, ApplyRequest{MaxDelete: 3})
				last := i == len(c.own)-1
				if r.Deleted != want || r.Gone != 0 || r.Resumed != before || r.Queued != int64(len(strings.Fields(w.queued()))) || r.Complete != last {
					t.Errorf("run %d: %+v", i, r)
				}
				if last != (err == nil) || err != nil && (lake.KindOf(err) != lake.Limit || r.Limit != "--max-delete" || !strings.Contains(err.Error(), w.table())) {
					t.Errorf("run %d: limit %q, %v", i, r.Limit, err)
				}
				before += r.Deleted
			}
			w.pass(1)
			w.commit(map[string][]string{"1a": {"new"}})
			w.mustClean()
			if told := w.told(&blobModel{w: w, layout: timeline.Layout1}); told != 6 || w.blobs() != "new" {
				t.Errorf("%d of 6 blobs were told, left %q", told, w.blobs())
			}
		})
	}
}

// A plan that is applied again and again tells of each blob once, though its
// journal holds the earlier runs.
func TestFiguresAreToldOnceByOnePlan(t *testing.T) {
	w := several(t)
	p := w.plan(w.atOnce())
	for _, limit := range []int64{4, 0, 0} {
		if r, err := w.apply(p, ApplyRequest{MaxDelete: limit}); err != nil && r.Limit == "" {
			t.Fatal(err)
		}
	}
	w.commit(map[string][]string{"1a": {"new"}})
	w.mustClean()
	if told := w.told(&blobModel{w: w, layout: timeline.Layout1}); told != 6 || w.blobs() != "new" {
		t.Errorf("%d of 6 blobs were told, left %q", told, w.blobs())
	}
}

// One deadline holds for a run: a wait that goes past it isn't begun.
func TestBlobsDontWaitPastTheDeadline(t *testing.T) {
	w := expired(t)
	req := w.request()
	req.Hudi.Blobs.Wait = true
	began := w.now
	r, err := w.apply(w.plan(req), ApplyRequest{MaxDuration: time.Hour})
	if lake.KindOf(err) != lake.Limit || r.Limit != "--max-duration" || r.Queued != 1 || r.Complete || !w.there("X") || w.now.Sub(began) > time.Hour {
		t.Errorf("%+v, %v, after %s", r, err, w.now.Sub(began))
	}
}

// A file that can't be read is graver than a limit, and what it keeps is told as
// waiting.
func TestBlobsThatFailAreGraverThanALimit(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("a", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"a"}, "2b": {"new"}})
	for range 2 {
		w.commit(map[string][]string{"1a": {"new"}, "2b": {"new"}})
	}
	w.mustClean()
	w.pass(30)
	w.commit(map[string][]string{"1a": {"new"}, "2b": {"new"}})
	p := w.plan(w.request())
	files := w.files("table/p=2/*.parquet")
	w.put("table/p=2/"+files[len(files)-1], "garbage")
	r, err := w.apply(p, ApplyRequest{MaxDelete: 1})
	if lake.KindOf(err) != lake.Partial || r.Limit != "--max-delete" || r.Failed != 1 || r.Skipped != 1 || r.Queued != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Drains whose timeline's newest time lies ahead of our clock have intents of
// their own.
func TestDrainsUnderATimelineThatIsAhead(t *testing.T) {
	w := several(t)
	w.mustClean()
	w.pass(30)
	w.commit(map[string][]string{"1a": {"new"}})
	p := w.plan(w.request())
	w.tick(3 * time.Minute) // the clock of a writer
	at := timeline.FormatTime(w.now, time.UTC)
	for _, name := range w.pending(at) {
		w.put(name, "")
	}
	w.complete(at, []string{w.file(at, "2b", "new")})
	w.tick(-3 * time.Minute)
	for i := range 3 {
		r, err := w.apply(p, ApplyRequest{MaxDelete: 2})
		w.tick(-time.Minute)
		if r.Deleted < 1 || err != nil && lake.KindOf(err) != lake.Limit {
			t.Fatalf("run %d: %+v, %v", i, r, err)
		}
	}
	if w.blobs() != "new" {
		t.Errorf("left %q", w.blobs())
	}
}

// slow is a store whose clock lies behind.
type slow struct {
	store.Store
	now func() time.Time
}

func (s slow) Status(ctx context.Context) (store.Status, error) {
	status, err := s.Store.Status(ctx)
	status.Now = s.now()
	return status, err
}

// An empty claim is as old as its own store says: one that another table is
// making isn't taken over, however far that store's clock lies behind.
func TestAClaimInTheMakingByAStoreWhoseClockIsBehind(t *testing.T) {
	w := expired(t)
	behind := func() time.Time { return w.time().Add(-20 * time.Minute) }
	e := w.engine()
	r := e.Stores.(store.Registry)
	r.Wrap = func(root lake.Root, s store.Store) store.Store {
		if strings.HasSuffix(root.Path, "blobs") {
			return slow{s, behind}
		}
		return s
	}
	e.Stores = r
	claim := w.path("blobs/" + lake.ClaimName)
	w.put("blobs/"+lake.ClaimName, "")
	if err := os.Chtimes(claim, behind(), behind()); err != nil {
		t.Fatal(err)
	}
	p := w.plan(w.request())
	if _, err := e.Apply(t.Context(), p, ApplyRequest{}, nil); lake.KindOf(err) != lake.Locked {
		t.Fatalf("a claim in the making: %v", err)
	}
	w.tick(15 * time.Minute)
	if _, err := e.Apply(t.Context(), p, ApplyRequest{}, nil); err != nil {
		t.Errorf("a claim that was left: %v", err)
	}
}
