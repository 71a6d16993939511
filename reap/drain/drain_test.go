package drain_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

func TestABlobDiesAfterItsGraceTime(t *testing.T) {
	w := newWorld(t, t.TempDir(), "x", "y")
	f := w.write("x", "y")
	w.write("y")
	w.expire(f)
	if r := w.drain(); r.Queued != 1 || w.left("x", "y") != "x y" {
		t.Fatalf("within the grace time: %+v", r)
	}
	w.pass(grace)
	r := w.drain()
	if r.Deleted != 1 || r.Bytes == 0 || w.left("x", "y") != "y" || len(w.queued()) != 0 {
		t.Errorf("%+v, left %s, queued %q", r, w.left("x", "y"), w.queued())
	}
	snap, err := w.queue().Load(t.Context())
	if err != nil || snap.Meta.Stats.Deleted != 1 || snap.Meta.Stats.Bytes != r.Bytes {
		t.Errorf("the figures wait for the next clean: %+v, %v", snap.Meta.Stats, err)
	}
}

func TestWhatKeepsAQueuedBlob(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *world) // before the blob is queued
		after  func(w *world) // while it waits
		queued bool           // it stays in the queue
	}{
		"H8: a committed file refers to it again":                {after: func(w *world) { w.write("x") }},
		"H6: a file of a write in flight refers to it":           {after: func(w *world) { w.put(w.begin(), "x") }, queued: true},
		"H6: a write that began before it was queued still runs": {before: func(w *world) { w.begin() }, queued: true},
		"H10: it was uploaded anew while it waited":              {after: func(w *world) { w.pass(time.Hour); w.upload("x"); w.pass(time.Hour) }},
		"it is younger than the minimum age":                     {before: func(w *world) { w.upload("x"); w.pass(time.Minute) }, queued: true},
		"a file can't be read":                                   {after: func(w *world) { w.unread = errors.New("cut") }, queued: true},
		"H7: it lies outside the allowed roots": {after: func(w *world) {
			names, err := lake.NewBlobNames(lake.BlobOptions{Table: tableRoot(), Roots: []lake.Root{{Scheme: "mem", Authority: "b", Path: "other"}}})
			if err != nil {
				w.t.Fatal(err)
			}
			w.names = names
		}, queued: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, t.TempDir(), "x")
			f := w.write("x")
			if c.before != nil {
				c.before(w)
			}
			w.expire(f)
			if c.after != nil {
				c.after(w)
			}
			w.pass(grace)
			job, o := w.job()
			if name == "it is younger than the minimum age" {
				o.MinAge = 1000 * time.Hour
			}
			r, err := drain.Run(t.Context(), job, o)
			if w.unread != nil && lake.KindOf(err) != lake.Partial || w.unread == nil && err != nil {
				t.Fatal(err)
			}
			if r.Deleted > 0 || !w.there("x") {
				t.Fatalf("%+v", r)
			}
			if stays := len(w.queued()) == 1; stays != c.queued {
				t.Errorf("in the queue: %v, want %v", stays, c.queued)
			}
		})
	}
}

// A blob is as young as it may be by its store's clock.
func TestMinAgeByAStoreWhoseClockIsBehind(t *testing.T) {
	for behind, left := range map[time.Duration]string{0: "", 10 * time.Minute: "x"} {
		w := newWorld(t, t.TempDir(), "x")
		w.expire(w.write("x"))
		w.pass(grace)
		job, o := w.job()
		info, err := w.blobs.Stat(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		o.MinAge = w.clock().Sub(info.Modified) - time.Minute
		job.Behind = func(lake.Root) time.Duration { return behind }
		if r, err := drain.Run(t.Context(), job, o); err != nil || w.left("x") != left {
			t.Errorf("%s behind: %+v, %v", behind, r, err)
		}
	}
}

// H10: what was uploaded anew leaves the queue, even where the store's clock
// lies behind ours, and says that it was there before.
func TestAStoreWhoseClockIsBehind(t *testing.T) {
	for behind, left := range map[time.Duration]string{0: "", 10 * time.Minute: "x"} {
		w := newWorld(t, t.TempDir(), "x")
		w.expire(w.write("x"))
		w.pass(time.Minute)
		w.blobs.Put("x", []byte("anew"), w.clock().Add(-10*time.Minute))
		w.pass(grace)
		job, o := w.job()
		job.Behind = func(lake.Root) time.Duration { return behind }
		if r, err := drain.Run(t.Context(), job, o); err != nil || w.left("x") != left || len(w.queued()) > 0 {
			t.Errorf("%s behind: %+v, %v", behind, r, err)
		}
	}
}

// What is gone already counts as deleted.
func TestABlobThatIsGoneCountsAsDeleted(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.expire(w.write("x"))
	w.pass(grace)
	if r := w.drain(); r.Gone != 1 || r.Stats.Deleted != 1 || len(w.queued()) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestADrainDeletesOnlyWhatItsPlanLists(t *testing.T) {
	w := newWorld(t, t.TempDir(), "a", "x", "y", "z")
	w.expire(w.write("x", "y", "z"))
	w.pass(grace)
	job, o := w.jobOf([]string{"a", "y"})
	if r, err := drain.Run(t.Context(), job, o); err != nil || r.Deleted != 1 || r.Spared != 0 || w.left("a", "x", "y", "z") != "a x z" {
		t.Errorf("%+v, %v", r, err)
	}
}

// H4: the oldest go first, and the others aren't forgotten.
func TestTheOldestGoFirst(t *testing.T) {
	w := newWorld(t, t.TempDir(), "a", "b", "c", "d")
	for _, name := range []string{"d", "b", "c", "a"} {
		w.expire(w.write(name))
		w.pass(time.Minute)
	}
	w.pass(grace)
	for _, want := range []string{"a c", ""} {
		job, o := w.job()
		o.MaxCandidates = 2
		if r, err := drain.Run(t.Context(), job, o); err != nil || r.Deleted != 2 || w.left("a", "b", "c", "d") != want {
			t.Fatalf("%+v, %v: %s", r, err, w.left("a", "b", "c", "d"))
		}
	}
}

func TestADryRunQueuesAndDeletesNothing(t *testing.T) {
	w := newWorld(t, t.TempDir(), "x", "y")
	w.expire(w.write("x", "y"))
	w.write("y")
	w.pass(grace)
	job, o := w.job()
	o.DryRun = true
	r, err := drain.Run(t.Context(), job, o)
	if err != nil || r.Queued != 1 || r.Spared != 1 || w.left("x", "y") != "x y" || len(w.queued()) != 2 {
		t.Errorf("%+v, %v, %q", r, err, w.queued())
	}
}

// The second look: a write that was completed while files were read keeps its
// blobs, one that began sends the drain back, and a writer that asks under the
// lock is told once the intent is published.
func TestSecondLook(t *testing.T) {
	t.Run("completed since", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x", "y")
		w.expire(w.write("x", "y"))
		w.pass(grace)
		job, o := w.job()
		once := true
		job.Judge.(*judge).after = func() {
			if once {
				once = false
				w.write("x")
			}
		}
		if r, err := drain.Run(t.Context(), job, o); err != nil || r.Deleted != 1 || r.Spared != 1 || w.left("x", "y") != "x" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("began since", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x", "y")
		w.expire(w.write("x", "y"))
		w.pass(grace)
		job, o := w.job()
		rounds := 0
		job.Judge.(*judge).after = func() {
			if rounds++; rounds == 1 {
				w.put(w.begin(), "x")
			}
		}
		if r, err := drain.Run(t.Context(), job, o); err != nil || rounds != 2 || r.Deleted != 1 || r.Queued != 1 || w.left("x", "y") != "x" {
			t.Errorf("%d rounds, %+v, %v", rounds, r, err)
		}
	})
	t.Run("keep beginning", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x")
		w.expire(w.write("x"))
		w.pass(grace)
		job, o := w.job()
		job.Judge.(*judge).after = func() { w.begin() }
		if r, err := drain.Run(t.Context(), job, o); err != nil || r.Queued != 1 || len(r.Warnings) != 1 || !w.there("x") {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a lock that was taken over", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x")
		w.expire(w.write("x"))
		w.pass(grace)
		w.takenOver = true
		job, o := w.job()
		if r, err := drain.Run(t.Context(), job, o); lake.KindOf(err) != lake.Locked || r.Deleted != 0 || !w.there("x") {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("the intent is seen before the first delete", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x")
		w.expire(w.write("x"))
		w.pass(grace)
		at := w.begin()
		asked := false
		w.faults = store.NewFaults(func(c store.Call) store.Injection {
			if c.Op == "delete" && !asked {
				asked = true
				tl := mustTimeline(w)
				answer, err := blobqueue.Check(context.Background(), w.table, tl, at, spelledAnyhow(func(p string) bool { return p == uri("x") }))
				if err != nil || len(answer.Conflicts) != 1 || answer.Conflicts[0].What != "drain" || answer.Conflicts[0].State != "inflight" {
					t.Errorf("%+v, %v", answer, err)
				}
				if w.locked {
					t.Error("something is deleted while the lock is held")
				}
			}
			return store.Injection{}
		})
		// The write began after the blob was queued and brings no file of its own yet.
		if r := w.drain(); r.Deleted != 1 || !asked {
			t.Errorf("%+v", r)
		}
		answer, err := blobqueue.Check(context.Background(), w.table, mustTimeline(w), at, spelledAnyhow(func(p string) bool { return p == uri("x") }))
		if err != nil || len(answer.Conflicts) != 1 || answer.Conflicts[0].State != "completed" {
			t.Errorf("after the drain: %+v, %v", answer, err)
		}
		if answer, err = blobqueue.Check(context.Background(), w.table, mustTimeline(w), w.begin(), spelledAnyhow(func(string) bool { return true })); err != nil || len(answer.Conflicts) != 0 {
			t.Errorf("a write that began after the drain: %+v, %v", answer, err)
		}
	})
	// It was in flight already when files were read, wrote its file and asked before there was an intent, and holds no lock.
	t.Run("asked before the intent, completed after the delete", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "x", "y")
		w.expire(w.write("x", "y"))
		w.pass(grace)
		at := w.begin()
		job, o := w.job()
		job.Judge.(*judge).after = func() {
			w.put(at, "x")
			answer, err := blobqueue.Check(context.Background(), w.table, mustTimeline(w), at, spelledAnyhow(func(p string) bool { return p == uri("x") }))
			if err != nil || len(answer.Conflicts) != 0 {
				t.Errorf("%+v, %v", answer, err)
			}
		}
		if r, err := drain.Run(t.Context(), job, o); err != nil || r.Deleted != 1 || w.left("x", "y") != "x" || strings.Join(w.queued(), "") != "x" {
			t.Errorf("%+v, %v, %q", r, err, w.queued())
		}
	})
	t.Run("a commit between two batches", func(t *testing.T) {
		w := newWorld(t, t.TempDir(), "a", "b", "c", "d", "e", "f", "g", "h")
		w.expire(w.write("a", "b", "c", "d", "e", "f", "g", "h"))
		w.pass(grace)
		first := true
		w.faults = store.NewFaults(func(c store.Call) store.Injection {
			if c.Op == "delete" && first {
				first = false
				w.pass(time.Second)
				w.write("h")
			}
			return store.Injection{}
		})
		job, o := w.job()
		o.Reap.Workers = 1
		if r, err := drain.Run(t.Context(), job, o); err != nil || r.Deleted != 7 || w.left("a", "h") != "h" || strings.Join(w.queued(), "") != "h" {
			t.Errorf("%+v, %v, %q", r, err, w.queued())
		}
	})
}

// A blob that was found alive, and is queued anew before it leaves the queue,
// waits on: even if a writer's clock is ahead, so that both instants are the
// first after its.
func TestWhatIsQueuedAnewMeanwhileStaysQueued(t *testing.T) {
	w := newWorld(t, t.TempDir(), "x")
	w.expire(w.write("x"))
	refers := w.write("x")
	w.pass(grace)
	job, o := w.job()
	job.Judge.(*judge).after = func() {
		w.pass(time.Minute)
		if _, err := w.queue().Update(t.Context(), w.clock(), func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
			return func(yield func(blobqueue.Entry, error) bool) {
				for e, err := range old.Entries(t.Context()) {
					e.At = w.clock()
					if !yield(e, err) {
						return
					}
				}
			}, blobqueue.Stats{}, nil
		}); err != nil {
			t.Fatal(err)
		}
		delete(w.files, refers)
	}
	if r, err := drain.Run(t.Context(), job, o); err != nil || r.Spared != 1 || strings.Join(w.queued(), "") != "x" {
		t.Errorf("%+v, %v, queued %q", r, err, w.queued())
	}
}

// H10: whether it changes just before its delete, or between the look at it and
// the intent.
func TestAnObjectThatChangesBeforeItsDeleteStays(t *testing.T) {
	for name, moment := range map[string]func(store.Call) bool{
		"at its delete": func(c store.Call) bool { return c.Op == "delete" },
		"at the intent": func(c store.Call) bool { return c.Op == "create" && strings.HasSuffix(c.Name, ".blob_drain.parquet") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, t.TempDir(), "x")
			w.expire(w.write("x"))
			w.pass(grace)
			w.faults = store.NewFaults(func(c store.Call) store.Injection {
				if moment(c) {
					w.upload("x")
				}
				return store.Injection{}
			})
			job, o := w.job()
			o.MinAge = 0
			if r, err := drain.Run(t.Context(), job, o); err != nil || r.Spared != 1 || !w.there("x") {
				t.Errorf("%+v, %v", r, err)
			}
			w.faults = nil
			if w.drain(); len(w.queued()) != 0 || !w.there("x") {
				t.Errorf("%q", w.queued())
			}
		})
	}
}

func TestAWithdrawnIntentEndsTheDrain(t *testing.T) {
	w := newWorld(t, t.TempDir(), "a", "b", "c", "d", "e", "f")
	w.expire(w.write("a", "b", "c", "d", "e", "f"))
	w.pass(grace)
	withdrawn := false
	w.faults = store.NewFaults(func(c store.Call) store.Injection {
		if c.Op == "delete" && !withdrawn {
			withdrawn = true
			w.pass(time.Second)
			page, err := w.table.List(context.Background(), store.PageRequest{Prefix: blobqueue.Dir + "/", Dirs: true})
			for _, e := range page.Entries {
				if strings.HasSuffix(e.Name, ".blob_drain.parquet") {
					err = w.table.Remove(context.Background(), e.Name, "")
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
		return store.Injection{}
	})
	job, o := w.job()
	o.Reap.Workers = 1
	r, err := drain.Run(t.Context(), job, o)
	if lake.KindOf(err) != lake.Stale || r.Deleted > 4 || len(w.queued()) != 6-int(r.Deleted) {
		t.Errorf("%+v, %v, %q", r, err, w.queued())
	}
}

// A blob in the folder of a table stays for good: it leaves the queue, and is told.
func TestABlobInATableIsSpared(t *testing.T) {
	w := newWorld(t, t.TempDir(), "theirs/x", "y")
	w.expire(w.write("theirs/x", "y"))
	w.pass(grace)
	job, o := w.job()
	open := job.Open
	job.Open = func(ctx context.Context, at lake.Root) (reap.Place, string, error) {
		p, name, err := open(ctx, at)
		if strings.HasPrefix(name, "theirs/") {
			err = fmt.Errorf("%w: theirs", drain.ErrForeign)
		}
		return p, name, err
	}
	var why error
	o.Reap.Outcome = func(x reap.Outcome) {
		if x.Outcome == filelist.Spared {
			why = x.Err
		}
	}
	r, err := drain.Run(t.Context(), job, o)
	if err != nil || r.Deleted != 1 || r.Spared != 1 || r.Stats.Retained != 1 || !w.there("theirs/x") || w.there("y") || len(w.queued()) > 0 {
		t.Errorf("%+v, %v, queued %q", r, err, w.queued())
	}
	if !errors.Is(why, drain.ErrForeign) || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "1 blobs") {
		t.Errorf("%v, %q", why, r.Warnings)
	}
}
