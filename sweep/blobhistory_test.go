package sweep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

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
// A fifth as many as of the other random histories, from the same -seed.
func TestRandomBlobHistories(t *testing.T) {
	n := max(many()/5, 1)
	inParallel(t, n, firstOf(t, n), func(t *testing.T, seed uint64) { newBlobHistory(t, seed).run() })
}

type blobHistory struct {
	t      *testing.T
	w      *blobWorld
	m      *blobModel
	rng    *rand.Rand
	names  []string
	policy HudiRequest
	minAge time.Duration
	anew   []string        // blobs that were uploaded since a run began
	looks  int             // listings of the timeline by the run that is under way
	begun  []*modelWrite   // writes that this run may still see begin
	letGo  map[string]bool // blobs that have to die if nothing refers to them in the end
}

func newBlobHistory(t *testing.T, seed uint64) *blobHistory {
	w := newBlobWorld(t, t)
	h := &blobHistory{t: t, w: w, rng: rand.New(rand.NewPCG(seed, 7)), names: []string{"a", "b", "c", "d"}, letGo: map[string]bool{}}
	h.m = newBlobModel(w, []timeline.Layout{timeline.Layout1, timeline.Layout2}[h.one(2)], h.one(2) == 0)
	h.policy = h.anyPolicy()
	h.minAge = []time.Duration{0, 40 * time.Hour}[h.one(2)]
	w.upload(h.names...)
	w.pass(72)
	t.Logf("version %s, merge on read: %v, %+v", map[timeline.Layout]string{1: "6", 2: "9"}[h.m.layout], h.m.mor, h.policy)
	return h
}

func (h *blobHistory) run() {
	defer os.RemoveAll(h.w.dir) //nolint:errcheck // the test's own folder goes in the end
	for range 6 + h.one(40) {
		h.step(false)
		h.m.check()
	}
	h.finish()
}

// anyPolicy draws what a clean retains.
func (h *blobHistory) anyPolicy() HudiRequest {
	return []HudiRequest{{RetainCommits: 1}, {RetainCommits: 2}, {RetainVersions: 1}, {RetainVersions: 2}, {RetainHours: 2}}[h.one(5)]
}

// one draws a number below n.
func (h *blobHistory) one(n int) int { return h.rng.IntN(n) }

func (h *blobHistory) yes() bool { return h.one(2) == 0 }

// some draws references to blobs that are there.
func (h *blobHistory) some() (refs []blobtest.Ref) {
	for i := range h.one(3) {
		r := blobtest.Ref{Key: fmt.Sprint("k", i), Path: spelled(h.names[h.one(len(h.names))]), Managed: h.one(5) > 0}
		if h.w.there(r.Path[len(spelled("")):]) {
			r.Length = int64(h.one(2))
			r.Column = []string{"img", "img", "other", "st.b"}[h.one(4)]
			refs = append(refs, r)
		}
	}
	return refs
}

// risky reports whether a write's files, which it writes while a run is under
// way, may refer to a blob that this run deletes: one that was queued before the
// write began. Then the write must ask, unless it is completed before the intent
// is published; docs/blobs.md, "Writers that use a path again".
func (h *blobHistory) risky(w *modelWrite) bool {
	for _, p := range w.parts {
		for _, r := range p.refs {
			for _, e := range h.w.entries() {
				if e.Path == r.Path && e.Enqueued < w.at {
					return true
				}
			}
		}
	}
	return false
}

// began notes a write that began, wrote its files and stays in flight while a
// run is under way. Without asking it may refer to whatever is queued, if that
// was before the run's last look under the lock: the second last listing of the
// timeline before the intent.
func (h *blobHistory) began(w *modelWrite) {
	if w.late = h.m.draining(); !w.late {
		w.looks, h.begun = h.looks, append(h.begun, w)
	}
}

// published decides about these writes, as an intent is published.
func (h *blobHistory) published() {
	for _, w := range h.begun {
		w.late = h.looks-w.looks < 2
	}
	h.begun = nil
}

// end completes a write whose files were written just now, asking or not.
func (h *blobHistory) end(w *modelWrite, within bool) {
	must := within && h.m.draining() && h.risky(w)
	h.m.complete(w, h.yes() || must)
}

// step does one thing to the table. within: while a run is under way.
func (h *blobHistory) step(within bool) {
	m := h.m
	n := 26
	if within {
		n = 17
	}
	step := h.one(n)
	h.t.Logf("%s: step %d, within a run: %v", h.w.now.Format(time.DateTime), step, within)
	switch step {
	case 0, 1, 2, 3: // a whole write
		w := m.begin(m.writeAction())
		h.write(w)
		h.end(w, within)
	case 4: // a write that stays in flight
		w := m.begin(m.writeAction())
		h.write(w)
		if within && h.risky(w) {
			h.began(w)
		}
	case 5: // one that hasn't written anything yet
		m.begin(m.writeAction())
	case 6, 7:
		if len(m.open) == 0 {
			break
		}
		switch w := m.open[h.one(len(m.open))]; {
		case h.one(4) == 0:
			m.rollback(w)
		case len(w.parts) > 0:
			m.complete(w, h.yes() || w.late)
		default:
			h.write(w)
			if w.late = within && h.risky(w); h.yes() {
				h.end(w, within)
			}
		}
	case 8, 9:
		h.schedule()
	case 10, 11:
		if len(m.services) > 0 {
			s := m.services[h.one(len(m.services))]
			if s.action.Comparable() == timeline.ReplaceCommit && h.one(4) == 0 {
				m.rollback(s)
			} else {
				m.perform(s)
			}
		}
	case 12:
		if w := m.overwrite([]string{"1", "2"}[h.one(2)], h.some()); w != nil {
			h.end(w, within)
		}
	case 13:
		if list := m.savable(); len(list) > 0 {
			m.savepoint(list[h.one(len(list))])
		}
	case 14:
		if at := h.savedOne(); at != "" && h.yes() {
			h.restore(at)
		} else if at != "" {
			m.unsave(at)
		}
	case 15:
		m.archive(1 + h.one(3))
	case 16:
		name := h.names[h.one(len(h.names))]
		h.w.upload(name)
		delete(h.letGo, name)
		h.anew = append(h.anew, name)
	case 17: // another cleaner finishes what is pending, or gives it up
		if at := m.pendingClean(); at != "" && h.one(4) == 0 {
			m.forget(at, "clean")
		} else if at != "" {
			h.lost(m.finish(at), true)
		}
	default:
		h.w.pass([]int{1, 30}[h.one(2)])
		h.clean()
	}
}

// write writes the files of a write: of one or two groups.
func (h *blobHistory) write(w *modelWrite) {
	m := h.m
	for range 1 + h.one(2) {
		list := m.names(func(g modelGroup) bool { return !g.busy && g.last < w.at })
		group := ""
		if i := h.one(4); i < len(list) {
			group = list[i]
		} else {
			group = m.group([]string{"1", "2"}[h.one(2)])
		}
		m.write(w, group, h.some())
	}
}

func (h *blobHistory) schedule() {
	m := h.m
	logs := m.names(func(g modelGroup) bool { return idle(g) && g.logs > 0 })
	switch h.one(3) {
	case 0:
		// Version 6 schedules no compaction while a write is in flight.
		if len(logs) > 0 && (m.layout == timeline.Layout2 || len(m.open) == 0) {
			m.schedule(timeline.Compaction, logs[:1+h.one(len(logs))]...)
		}
	case 1:
		if len(logs) > 0 {
			m.schedule(timeline.LogCompaction, logs[h.one(len(logs))])
		}
	default:
		list := m.names(idle)
		if len(list) > 0 {
			first := list[h.one(len(list))]
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
	return list[h.one(len(list))]
}

// restore restores a savepoint. What it takes away nobody queues (H9).
func (h *blobHistory) restore(at string) {
	before := h.standing()
	h.m.restore(at)
	h.lost(h.gone(before), false)
}

func (h *blobHistory) request() PlanRequest {
	req := h.w.request()
	blobs := req.Hudi.Blobs
	req.Hudi = h.policy
	blobs.MinAge = &h.minAge
	req.Hudi.Blobs, req.Hudi.NoOtherWriters = blobs, true
	req.Tuning.Workers = 1
	return req
}

// clean runs, undisturbed, with a fault, or with steps of the writer within.
func (h *blobHistory) clean() {
	w := h.w
	h.anew = nil
	before, alive := h.standing(), h.lives()
	req, now := h.request(), time.Duration(0)
	within, fault := false, false
	switch h.one(6) {
	case 0, 1:
		fault = true
		injection := store.Injection{Err: errors.New("fault"), When: store.Moment(h.one(3)), Kill: h.yes()}
		w.faults = store.NewFaults(store.FailNth(int64(1+h.one(250)), injection))
	case 2, 3:
		within = true
		h.within()
	case 4:
		req.Hudi.Blobs.Grace = &now
	}
	r, err := w.clean(req)
	w.faults, h.begun = nil, nil
	h.t.Logf("  blobs %s, queued %s, let go %v", w.blobs(), w.queued(), h.letGo)
	h.t.Logf("the clean deleted %d, spared %d, queued %d: %v", r.Deleted, r.Spared, r.Queued, err)
	h.release()
	h.deaths(alive, *req.Hudi.Blobs.Grace)
	if err != nil && !fault && lake.KindOf(err) != lake.Stale && !(within && gaveUp(err)) {
		h.t.Fatal(err)
	}
	var ours []string
	for _, f := range h.gone(before) {
		if !h.m.removed[f] {
			ours = append(ours, f)
		}
	}
	h.lost(ours, true)
	for _, b := range h.anew {
		delete(h.letGo, b) // it may have been queued before
	}
}

// within lets the writer come between two calls of the run to come, twice.
func (h *blobHistory) within() {
	moments := []func(store.Call) bool{
		ends("create", ".blob_drain.parquet"), ends("create", ".clean.requested"), ends("create", ".parquet"), ends("create", ".blob_drain"),
		func(c store.Call) bool { return c.Op == "delete" },
		func(c store.Call) bool { return c.Op == "stat" && slices.Contains(h.names, c.Name) },
	}
	between := false // the judgement and the look under the lock
	match := func() func(store.Call) bool {
		if between = h.one(4) == 0; between {
			looked, lists := false, 0
			return func(c store.Call) bool {
				looked = looked || c.Op == "stat" && slices.Contains(h.names, c.Name)
				if looked && c.Op == "list" && "table/"+c.Name == h.m.dir() {
					lists++
				}
				return lists == 2
			}
		}
		if h.yes() {
			return moments[h.one(len(moments))]
		}
		n := int64(1 + h.one(120))
		return func(c store.Call) bool { return c.N >= n }
	}
	next, left := match(), 2
	var faults *store.Faults
	faults = store.NewFaults(func(c store.Call) store.Injection {
		if left > 0 && next(c) {
			h.w.faults = nil
			h.release()
			h.t.Logf("  before the call %+v:", c)
			switch {
			case between && h.yes():
				w := h.m.begin(h.m.writeAction())
				h.m.write(w, h.m.group("1"), h.waiting())
				h.began(w)
			case h.one(8) == 0:
				if _, err := h.w.clean(h.request()); err != nil && !gaveUp(err) {
					h.t.Fatal(err)
				}
			default:
				h.step(true)
			}
			h.m.check()
			h.w.faults = faults
			next = match()
			left--
		}
		switch {
		case c.Op == "list" && "table/"+c.Name == h.m.dir():
			h.looks++
		case ends("create", ".blob_drain.parquet")(c):
			h.published()
		}
		return store.Injection{}
	})
	h.w.faults = faults
}

// waiting is a reference to each blob that is queued and there.
func (h *blobHistory) waiting() (refs []blobtest.Ref) {
	for i, e := range h.w.entries() {
		if h.w.there(e.Path[len(spelled("")):]) {
			refs = append(refs, blobtest.Ref{Key: fmt.Sprint("k", i), Path: e.Path, Managed: true})
		}
	}
	return refs
}
