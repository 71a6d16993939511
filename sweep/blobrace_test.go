package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/store"
)

// expired is a table whose clean lets X go.
func expired(t *testing.T) *blobWorld {
	w := newBlobWorld(t, t)
	w.upload("X", "Y", "Z")
	w.pass(72)
	w.commit(map[string][]string{"1a": {"X"}, "2b": {"Z"}})
	w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
	w.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
	return w
}

// ask is a writer's check before it commits files.
func (w *blobWorld) ask(at string, files ...string) Check {
	w.t.Helper()
	c, err := w.engine().CheckCommit(context.Background(), CheckRequest{Plan: PlanRequest{Table: w.table()}, Instant: at, Files: files})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// during plans and applies, and calls do at the first store call that matches.
func (w *blobWorld) during(req PlanRequest, match func(store.Call) bool, do func()) (Result, error) {
	w.t.Helper()
	r, done, err := w.within(req, match, do)
	if !done {
		w.t.Fatal("the moment never came")
	}
	return r, err
}

// within is during, where the moment may never come: then done is false.
func (w *blobWorld) within(req PlanRequest, match func(store.Call) bool, do func()) (r Result, done bool, err error) {
	w.t.Helper()
	w.faults = store.NewFaults(func(c store.Call) store.Injection {
		if !done && match(c) {
			done = true
			faults := w.faults
			w.faults = nil
			do()
			w.faults = faults
		}
		return store.Injection{}
	})
	defer func() { w.faults = nil }()
	r, err = w.clean(req)
	return r, done, err
}

func ends(op, suffix string) func(store.Call) bool {
	return func(c store.Call) bool { return c.Op == op && strings.HasSuffix(c.Name, suffix) }
}

// RFC-100, "Writer-Cleaner Race": the four scenarios, with files that really
// refer to the blob, against a clean and against its drain.
func TestRaceScenarios(t *testing.T) {
	t.Run("A: the writer commits before the clean is planned", func(t *testing.T) {
		w := expired(t)
		w.commit(map[string][]string{"2c": {"X"}})
		w.mustClean()
		w.pass(30)
		if w.mustClean(); w.blobs() != "X Y Z" {
			t.Errorf("left %q", w.blobs())
		}
		w.check()
	})
	t.Run("B: the writer commits after the plan, before the delete", func(t *testing.T) {
		w := expired(t)
		p, err := w.engine().Plan(t.Context(), w.request(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		// The clean is published; the writer began before it and asks now.
		at := w.begin()
		f := w.file(at, "2c", "X")
		if _, err := w.engine().Apply(t.Context(), p, ApplyRequest{}, nil); err != nil {
			t.Fatal(err)
		}
		if c := w.ask(at, f); len(c.Conflicts) != 1 || c.Conflicts[0].What != "clean" || c.Conflicts[0].Path != spelled("X") {
			t.Errorf("%+v", c)
		}
	})
	for name, moment := range map[string]func(store.Call) bool{
		"B: the writer asks between the intent and the delete":          ends("delete", "X"),
		"C: the writer asks after the delete, before the drain's end":   ends("create", ".blob_drain"),
		"C: the writer asks after the delete, before the queue is left": ends("create", "00002.parquet"),
	} {
		t.Run(name, func(t *testing.T) {
			w := expired(t)
			w.mustClean()
			w.pass(30)
			at := w.begin() // after X was queued: the fence doesn't hold
			if _, err := w.during(w.request(), moment, func() {
				f := w.file(at, "2c", "X")
				if c := w.ask(at, f); len(c.Conflicts) != 1 || c.Conflicts[0].What != "drain" {
					t.Errorf("%+v", c)
				}
				w.remove("table/" + f)
				delete(w.refs, f)
			}); err != nil {
				t.Fatal(err)
			}
			if w.blobs() != "Y Z" {
				t.Errorf("left %q", w.blobs())
			}
			w.check()
		})
	}
	// A pre-commit validator holds no lock. The write was in flight when the files were read, and asks before there is an intent.
	for name, markers := range map[string]string{
		"a marker a file": "p=2/%[1]s.marker.CREATE",
		"markers in one":  "MARKERS0",
	} {
		t.Run("the writer asks without the lock before the intent, "+name, func(t *testing.T) {
			w := expired(t)
			w.mustClean()
			w.pass(30)
			at := w.begin()
			var f string
			if _, err := w.during(w.request(), ends("create", ".blob_drain.parquet"), func() {
				f = w.file(at, "2c", "X")
				marker := filepath.Base(f)
				if strings.Contains(markers, "%") {
					markers = fmt.Sprintf(markers, marker)
				}
				w.put("table/.hoodie/.temp/"+at+"/"+markers, "p=2/gone_0-1-2_"+at+".parquet.marker.CREATE\np=2/"+marker+".marker.CREATE\n")
				if c := w.ask(at, f); len(c.Conflicts) != 0 {
					t.Errorf("%+v", c)
				}
			}); err != nil {
				t.Fatal(err)
			}
			w.complete(at, []string{f})
			if w.blobs() != "X Y Z" {
				t.Errorf("left %q", w.blobs())
			}
			w.check()
		})
	}
	t.Run("D: the drain ends, then the writer asks", func(t *testing.T) {
		w := expired(t)
		w.mustClean()
		w.pass(30)
		at := w.begin()
		w.mustClean()
		if w.blobs() != "Y Z" {
			t.Fatalf("left %q", w.blobs())
		}
		if c := w.ask(at, w.file(at, "2c", "X")); len(c.Conflicts) != 1 || c.Conflicts[0].State != "completed" {
			t.Errorf("%+v", c)
		}
		later := w.begin()
		if c := w.ask(later, w.file(later, "2d", "Y", "Z")); len(c.Conflicts) != 0 || c.References != 2 {
			t.Errorf("a write of other blobs: %+v", c)
		}
	})
	t.Run("the planning window: a commit between the judgement and the intent", func(t *testing.T) {
		w := expired(t)
		w.mustClean()
		w.pass(30)
		at := w.begin()
		r, err := w.during(w.request(), ends("create", ".blob_drain.parquet"), func() {
			w.complete(at, []string{w.file(at, "2c", "X")})
		})
		if err != nil || r.Spared != 1 || w.blobs() != "X Y Z" {
			t.Errorf("%+v, %v, left %q", r, err, w.blobs())
		}
		w.check()
	})
}

// The crash table: a run that dies at the n-th call to any store, whatever the
// call does, for every n; then runs without faults. Nothing that is referred to
// ever goes, and in the end what our clean let go is gone.
func TestCrashAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred runs")
	}
	for _, drained := range []bool{false, true} {
		for _, when := range []store.Moment{store.Before, store.After} {
			t.Run(fmt.Sprintf("drain %v, moment %d", drained, when), func(t *testing.T) {
				pristine := expired(t)
				if drained {
					pristine.mustClean()
					pristine.pass(30)
					pristine.commit(map[string][]string{"1a": {"Y"}, "2b": {"Z"}})
				}
				first := int64(1 + when) // the four cases take turns
				if drained {
					first += 4
				}
				for kill := first; ; kill += 7 {
					w := pristine.copy()
					w.faults = store.NewFaults(store.FailNth(kill, store.Injection{When: when, Kill: true}))
					_, err := w.clean(w.request())
					calls := w.faults.Calls()
					w.faults = nil
					w.check()
					if err == nil && calls < kill {
						return
					}
					for range 3 {
						w.pass(30)
						if _, err := w.clean(w.request()); err != nil {
							t.Fatalf("after a crash at call %d: %v", kill, err)
						}
						w.check()
					}
					if w.blobs() != "Y Z" || w.queued() != "" {
						t.Fatalf("after a crash at call %d: left %q, queued %q", kill, w.blobs(), w.queued())
					}
				}
			})
		}
	}
}

// copy copies the whole world.
func (w *blobWorld) copy() *blobWorld {
	w.t.Helper()
	c := *w
	c.clock = new(sync.Mutex)
	c.dir = w.tb.TempDir()
	c.state = filepath.Join(c.dir, "state")
	err := filepath.Walk(w.dir, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(c.dir, strings.TrimPrefix(p, w.dir))
		if info.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := os.ReadFile(p)
		if err == nil && strings.HasSuffix(p, ".json") {
			data = []byte(strings.ReplaceAll(string(data), w.dir, c.dir))
		}
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err == nil {
			err = os.Chtimes(to, info.ModTime(), info.ModTime())
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return &c
}
