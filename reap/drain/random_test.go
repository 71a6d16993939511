package drain_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// Random histories of a table whose every reference is known: shared, moved and
// re-added blobs, writes in flight, rolled back ones, writers that ask before
// they commit at any moment of a drain, uploads over queued blobs, faults and
// kills at any call. No blob that a file refers to ever dies. In the end
// exactly those are left that a file refers to or that nobody let go.
func TestRandomHistories(t *testing.T) {
	temp := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"a", "b", "c"}
		w := newWorld(rt, temp, names...)
		h := &history{w: w, rt: rt, names: names, let: map[string]bool{}, promised: map[string][]string{}}
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			h.step()
			h.check()
		}
		h.finish()
	})
}

type history struct {
	w        *world
	rt       *rapid.T
	names    []string
	open     []string            // writes in flight
	promised map[string][]string // what each will refer to in a file that it hasn't written yet
	let      map[string]bool     // blobs that a clean let go
}

func (h *history) some(label string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(h.names), 1, 3, rapid.ID[string]).Draw(h.rt, label)
}

// alive are blobs that a write may refer to: a writer doesn't name what isn't there.
func (h *history) alive(refs []string) []string {
	return slices.DeleteFunc(refs, func(n string) bool { return !h.w.there(n) })
}

func (h *history) step() {
	w := h.w
	switch rapid.IntRange(0, 7).Draw(h.rt, "step") {
	case 0:
		w.write(h.alive(h.unqueued(h.some("refs")))...)
	case 1: // a write that takes its time: what it refers to it knows from its beginning
		at := w.begin()
		refs := h.alive(h.unqueued(h.some("refs")))
		if rapid.Bool().Draw(h.rt, "file first") {
			w.put(at, refs...)
			refs = nil
		}
		h.open = append(h.open, at)
		h.promised[at] = refs
	case 2:
		h.end()
	case 3:
		var files []string
		w.mu.Lock()
		for name, f := range w.files {
			if w.done[f.instant] {
				files = append(files, name)
			}
		}
		w.mu.Unlock()
		slices.Sort(files)
		if len(files) > 0 {
			name := rapid.SampledFrom(files).Draw(h.rt, "expired")
			for _, r := range w.files[name].refs {
				h.let[r] = true
			}
			w.expire(name)
		}
	case 4:
		name := rapid.SampledFrom(h.names).Draw(h.rt, "upload")
		w.upload(name)
		h.let[name] = false
	case 5:
		w.pass(rapid.SampledFrom([]time.Duration{time.Minute, 25 * time.Hour}).Draw(h.rt, "time"))
	default:
		fault := int64(0)
		if rapid.Bool().Draw(h.rt, "faulty") {
			fault = rapid.Int64Range(1, 40).Draw(h.rt, "fault")
		}
		w.pass(rapid.SampledFrom([]time.Duration{time.Minute, 25 * time.Hour}).Draw(h.rt, "wait"))
		h.drain(fault)
	}
}

// unqueued leaves out what is queued: a writer that doesn't ask must not take
// up again what it could have known to be on its way out.
func (h *history) unqueued(refs []string) []string {
	queued := h.w.queued()
	return slices.DeleteFunc(refs, func(n string) bool { return slices.Contains(queued, n) })
}

// end completes or rolls back a write in flight.
func (h *history) end() {
	if len(h.open) == 0 {
		return
	}
	at := h.open[0]
	h.open = h.open[1:]
	refs := h.promised[at]
	if rapid.Bool().Draw(h.rt, "rolled back") {
		h.w.rollback(at)
		return
	}
	h.w.put(at, refs...)
	h.w.complete(at)
	for _, r := range refs {
		if !h.w.there(r) {
			h.rt.Fatalf("%s died although a write that began before it was queued refers to it", r)
		}
	}
}

// drain drains with a fault at one call, while a writer that asks commits.
func (h *history) drain(fault int64) {
	w := h.w
	injection := store.Injection{Err: errors.New("fault"), When: store.Moment(rapid.IntRange(0, 2).Draw(h.rt, "moment")), Kill: rapid.Bool().Draw(h.rt, "kill")}
	wants, moment := h.some("wanted"), rapid.Int64Range(1, 30).Draw(h.rt, "writer")
	w.faults = store.NewFaults(func(c store.Call) store.Injection {
		if c.N == moment {
			h.ask(wants)
		}
		if c.N == fault {
			return injection
		}
		return store.Injection{}
	})
	job, o := w.job()
	_, err := drain.Run(context.Background(), job, o)
	w.faults = nil
	w.locked = false // of a killed run the lease expires
	if err != nil && fault == 0 {
		h.rt.Fatal(err)
	}
}

// ask is a writer with the check: it writes its file, takes the lock, asks and
// commits, or takes its file back.
func (h *history) ask(refs []string) {
	w := h.w
	refs = h.alive(refs)
	at := w.begin()
	w.put(at, refs...)
	lease, err := w.Acquire(context.Background())
	if lake.KindOf(err) == lake.Locked && err != nil {
		w.rollback(at)
		return
	}
	defer lease.Release(context.Background())
	answer, err := blobqueue.Check(context.Background(), w.table, mustTimeline(w), at, spelledAnyhow(func(p string) bool {
		return slices.ContainsFunc(refs, func(r string) bool { return uri(r) == p })
	}))
	if err != nil {
		h.rt.Fatal(err)
	}
	if len(answer.Conflicts) > 0 || len(h.alive(slices.Clone(refs))) < len(refs) {
		w.rollback(at)
		return
	}
	w.complete(at)
}

// check holds after every step: what a committed file refers to is there.
func (h *history) check() {
	w := h.w
	w.mu.Lock()
	var refs []string
	for _, f := range w.files {
		if w.done[f.instant] {
			refs = append(refs, f.refs...)
		}
	}
	w.mu.Unlock()
	for _, r := range refs {
		if !w.there(r) {
			h.rt.Fatalf("%s is referenced and gone", r)
		}
	}
}

// finish lets all writes end, time pass and drains run without faults.
func (h *history) finish() {
	w := h.w
	for len(h.open) > 0 {
		h.end()
	}
	w.pass(25 * time.Hour)
	if r := w.drain(); r.Failed > 0 {
		h.rt.Fatal(r)
	}
	h.check()
	if q := w.queued(); len(q) > 0 {
		h.rt.Fatalf("still queued: %q", q)
	}
	used := w.referenced()
	for _, n := range h.names {
		if w.there(n) && !used[n] && h.let[n] {
			h.rt.Fatalf("%s was let go and never died", n)
		}
	}
	if again := w.drain(); again.Deleted > 0 {
		h.rt.Fatal("a second drain deleted something")
	}
}
