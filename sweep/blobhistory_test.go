package sweep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Random histories on real files, of versions 6 and 9, copy-on-write and
// merge-on-read: shared, moved, re-added, unmanaged and range references;
// compaction, log compaction, clustering, overwriting, rollback, savepoints,
// restore, archival, writers that ask and that don't, other cleaners; our runs
// die at any call, or have the writer come between any two. Nothing that a file
// refers to dies; what a snapshot or a savepoint reads stays; in the end what
// our cleans let go is gone, unless it is referred to.
//
// More of them: -rapid.checks=5000 -rapid.seed=1.
func TestRandomBlobHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred cleans")
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newBlobWorld(rt, t)
		defer os.RemoveAll(w.dir) //nolint:errcheck // the test's own folder goes in the end
		h := &blobHistory{w: w, rt: rt, names: []string{"a", "b", "c", "d"}, letGo: map[string]bool{}}
		h.m = newBlobModel(w, rapid.SampledFrom([]timeline.Layout{timeline.Layout1, timeline.Layout2}).Draw(rt, "layout"), rapid.Bool().Draw(rt, "merge on read"))
		h.policy = rapid.SampledFrom([]HudiRequest{{RetainCommits: 1}, {RetainCommits: 2}, {RetainVersions: 1}, {RetainVersions: 2}, {RetainHours: 2}}).Draw(rt, "policy")
		w.upload(h.names...)
		w.pass(72)
		for range rapid.IntRange(6, 30).Draw(rt, "steps") {
			h.step(false)
			h.m.check()
		}
		h.finish()
	})
}

type blobHistory struct {
	w      *blobWorld
	m      *blobModel
	rt     *rapid.T
	names  []string
	policy HudiRequest
	letGo  map[string]bool // blobs that have to die if nothing refers to them in the end
}

func (h *blobHistory) one(label string, n int) int { return rapid.IntRange(0, n-1).Draw(h.rt, label) }

func (h *blobHistory) yes(label string) bool { return rapid.Bool().Draw(h.rt, label) }

// some draws references to blobs that are there.
func (h *blobHistory) some() (refs []blobtest.Ref) {
	for i := range h.one("refs", 3) {
		r := blobtest.Ref{Key: fmt.Sprint("k", i), Path: spelled(h.names[h.one("blob", len(h.names))]), Managed: h.one("managed", 5) > 0}
		if h.w.there(r.Path[len(spelled("")):]) {
			r.Length = int64(h.one("length", 2))
			r.Column = rapid.SampledFrom([]string{"img", "img", "other", "st.b"}).Draw(h.rt, "column")
			refs = append(refs, r)
		}
	}
	return refs
}

// asks decides whether a writer asks before it commits. It must while a drain
// deletes, or if its files came while a run was under way: what remains is
// told in docs/blobs.md, "Writers that use a path again".
func (h *blobHistory) asks(w *modelWrite) bool {
	must := w != nil && w.late || h.m.draining()
	return h.yes("asks") || must
}

// step does one thing to the table. within: while a run is under way.
func (h *blobHistory) step(within bool) {
	m := h.m
	n := 21
	if within {
		n = 17
	}
	switch step := h.one("step", n); step {
	case 0, 1, 2, 3: // a whole write
		w := h.write()
		m.complete(w, h.asks(nil))
	case 4, 5: // a write that stays in flight
		h.write().late = within
	case 6, 7:
		if len(m.open) > 0 {
			w := m.open[h.one("open", len(m.open))]
			if h.yes("rolled back") {
				m.rollback(w)
			} else {
				m.complete(w, h.asks(w))
			}
		}
	case 8, 9:
		h.schedule()
	case 10, 11:
		if len(m.services) > 0 {
			s := m.services[h.one("service", len(m.services))]
			if s.action.Comparable() == timeline.ReplaceCommit && h.one("rolled back", 4) == 0 {
				m.rollback(s)
			} else {
				m.perform(s)
			}
		}
	case 12:
		m.overwrite(rapid.SampledFrom([]string{"1", "2"}).Draw(h.rt, "partition"), h.some(), h.asks(nil))
	case 13:
		if list := m.savable(); len(list) > 0 {
			m.savepoint(list[h.one("saved", len(list))])
		}
	case 14:
		if at := h.savedOne(); at != "" && h.yes("restored") {
			h.restore(at)
		} else if at != "" {
			m.unsave(at)
		}
	case 15:
		m.archive(1 + h.one("archived", 3))
	case 16:
		name := h.names[h.one("uploaded", len(h.names))]
		h.w.upload(name)
		delete(h.letGo, name)
	case 17: // another cleaner finishes what is pending, or gives it up
		if at := m.pendingClean(); at != "" && h.one("given up", 4) == 0 {
			m.forget(at, "clean")
		} else if at != "" {
			h.lost(m.finish(at), true)
		}
	default:
		h.w.pass([]int{1, 30}[h.one("hours", 2)])
		h.clean()
	}
}

// write begins a write of one or two groups and writes its files.
func (h *blobHistory) write() *modelWrite {
	m := h.m
	w := m.begin(m.writeAction())
	for range 1 + h.one("more groups", 2) {
		list := m.names(func(g modelGroup) bool { return !g.busy && (m.mor || !g.compacting) })
		group := ""
		if i := h.one("group", 4); i < len(list) {
			group = list[i]
		} else {
			group = m.group(rapid.SampledFrom([]string{"1", "2"}).Draw(h.rt, "partition"))
		}
		m.write(w, group, h.some())
	}
	return w
}

func (h *blobHistory) schedule() {
	m := h.m
	logs := m.names(func(g modelGroup) bool { return idle(g) && g.logs > 0 })
	switch h.one("service", 3) {
	case 0:
		// Version 6 schedules no compaction while a write is in flight.
		if len(logs) > 0 && (m.layout == timeline.Layout2 || len(m.open) == 0) {
			m.schedule(timeline.Compaction, logs[:1+h.one("groups", len(logs))]...)
		}
	case 1:
		if len(logs) > 0 {
			m.schedule(timeline.LogCompaction, logs[h.one("groups", len(logs))])
		}
	default:
		list := m.names(idle)
		if len(list) > 0 {
			first := list[h.one("groups", len(list))]
			list = slices.DeleteFunc(list, func(n string) bool { return n[:1] != first[:1] })
			m.schedule(m.clusteringAction(), list[:min(len(list), 2)]...)
		}
	}
}

func (h *blobHistory) savedOne() string {
	var list []string
	for at := range h.m.saved {
		list = append(list, at)
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return list[h.one("savepoint", len(list))]
}

// restore restores a savepoint. What it takes away nobody queues (H9).
func (h *blobHistory) restore(at string) {
	before := h.standing()
	h.m.restore(at)
	h.lost(h.gone(before), false)
}

func (h *blobHistory) standing() map[string]bool {
	out := map[string]bool{}
	for f := range h.w.refs {
		out[f] = h.m.has(f)
	}
	return out
}

func (h *blobHistory) gone(before map[string]bool) (out []string) {
	for f, there := range before {
		if there && !h.m.has(f) {
			out = append(out, f)
		}
	}
	return out
}

// lost notes files that went, by a clean that queues blobs or otherwise.
func (h *blobHistory) lost(files []string, queued bool) {
	for _, f := range files {
		for _, b := range h.w.refs[f] {
			if !queued {
				delete(h.letGo, b)
			}
		}
		for _, b := range h.m.managed[f] {
			if queued {
				h.letGo[b] = true
			}
		}
	}
}

func (h *blobHistory) request() PlanRequest {
	req := h.w.request()
	blobs := req.Hudi.Blobs
	req.Hudi = h.policy
	req.Hudi.Blobs, req.Hudi.NoOtherWriters = blobs, true
	req.Tuning.Workers = 1
	return req
}

// clean runs, undisturbed, with a fault, or with steps of the writer within.
func (h *blobHistory) clean() {
	w := h.w
	before := h.standing()
	req, now := h.request(), time.Duration(0)
	within, fault := false, false
	switch h.one("disturbed", 6) {
	case 0, 1:
		fault = true
		injection := store.Injection{Err: errors.New("fault"), When: store.Moment(h.one("moment", 3)), Kill: h.yes("kill")}
		w.faults = store.NewFaults(store.FailNth(int64(1+h.one("fault", 250)), injection))
	case 2, 3:
		within = true
		h.within()
	case 4:
		req.Hudi.Blobs.Grace = &now
	}
	_, err := w.clean(req)
	w.faults = nil
	if err != nil && !fault && lake.KindOf(err) != lake.Stale && !(within && gaveUp(err)) {
		h.rt.Fatal(err)
	}
	var ours []string
	for _, f := range h.gone(before) {
		if !h.m.removed[f] {
			ours = append(ours, f)
		}
	}
	h.lost(ours, true)
}

// gaveUp reports an error that a run may end with if the table changes under it.
// The world's clock goes on only when something happens, so that a commit that
// comes while a run plans lies in the future.
func gaveUp(err error) bool {
	switch lake.KindOf(err) {
	case lake.Stale, lake.Transient, lake.Partial, lake.Refused:
		return true
	}
	return false
}

// within lets the writer come between two calls of the run to come.
func (h *blobHistory) within() {
	at := int64(1 + h.one("call", 150))
	again := at + int64(h.one("later call", 40))
	var faults *store.Faults
	faults = store.NewFaults(func(c store.Call) store.Injection {
		if c.N == at || c.N == again {
			h.w.faults = nil
			if h.one("another run", 8) == 0 {
				if _, err := h.w.clean(h.request()); err != nil && !gaveUp(err) {
					h.rt.Fatal(err)
				}
			} else {
				h.step(true)
			}
			h.m.check()
			h.w.faults = faults
		}
		return store.Injection{}
	})
	h.w.faults = faults
}

// finish ends all that is in flight and cleans until the queue is empty.
func (h *blobHistory) finish() {
	w, m := h.w, h.m
	for len(m.open) > 0 {
		m.complete(m.open[0], true)
	}
	for len(m.services) > 0 {
		m.perform(m.services[0])
	}
	for at := range m.saved {
		m.unsave(at)
	}
	for n := 0; n < 3 || n < 10 && w.queued() != ""; n++ {
		w.pass(30)
		before := h.standing()
		if _, err := w.clean(h.request()); err != nil && n > 0 {
			h.rt.Fatal(err)
		}
		h.lost(h.gone(before), true)
		m.check()
	}
	if q := w.queued(); q != "" {
		h.rt.Fatalf("still queued: %s", q)
	}
	kept := map[string]bool{}
	for f, blobs := range w.refs {
		for _, b := range blobs {
			kept[b] = kept[b] || m.has(f)
		}
	}
	for b := range h.letGo {
		if !kept[b] && w.there(b) {
			h.rt.Fatalf("%s was let go by our cleans, nothing refers to it, and it is still there", b)
		}
	}
}
