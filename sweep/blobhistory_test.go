package sweep

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Random histories on real files, of versions 6 and 9, copy-on-write and
// merge-on-read, in partitions, nested ones or none, with and without change
// logs: shared, moved, re-added, unmanaged, misspelled and range references;
// compaction, log compaction, clustering, overwriting, rollback, savepoints,
// restore, archival, writers that ask and that don't, other cleaners; blobs that
// are uploaded anew; grace times and minimum ages; plans that are carried out
// later. Our runs die at any call, or have the writer come between any two, and
// between the deletes of two blobs. No blob dies early; nothing that a file
// refers to dies; what a snapshot or a savepoint reads stays; in the end what
// our cleans let go is gone, unless it is referred to.
//
// A fifth as many as of the other random histories, from the same -seed.
func TestRandomBlobHistories(t *testing.T) {
	n := max(many()/5, 1)
	inParallel(t, n, hudiFirst(t, n), func(t *testing.T, seed uint64) { newBlobHistory(t, seed).run() })
}

type blobHistory struct {
	t      *testing.T
	w      *blobWorld
	m      *blobModel
	rng    *rand.Rand
	names  []string
	policy HudiRequest
	grace  time.Duration // of most runs
	hasty  bool          // some runs don't wait at all
	minAge time.Duration
	paced  bool            // a run deletes one blob after the other
	under  *blobRun        // the run that is under way, nil for none
	anew   []string        // blobs that were uploaded since a run began
	adrift []string        // blobs that a restore let go since a run began
	looks  int             // listings of the timeline by the run that is under way
	begun  []*modelWrite   // writes that this run may still see begin
	letGo  map[string]bool // blobs that have to die if nothing refers to them in the end
}

func newBlobHistory(t *testing.T, seed uint64) *blobHistory {
	w := newBlobWorld(t, t)
	h := &blobHistory{t: t, w: w, rng: rand.New(rand.NewPCG(seed, 7)), names: strings.Split("abcdefghijkl", ""), letGo: map[string]bool{}}
	w.shaped(tableShapes[h.one(len(tableShapes))])
	h.m = newBlobModel(w, []timeline.Layout{timeline.Layout1, timeline.Layout2}[h.one(2)], h.one(2) == 0)
	if !h.m.mor && h.one(3) == 0 {
		h.m.changeLogs()
	}
	h.policy = h.anyPolicy()
	h.grace = []time.Duration{0, 7 * time.Hour, 24 * time.Hour, 60 * time.Hour}[h.one(4)]
	h.minAge = []time.Duration{0, 40 * time.Hour}[h.one(2)]
	h.hasty, h.paced = h.one(4) == 0, h.yes()
	w.upload(h.names...)
	w.pass(72)
	t.Logf("version %s, merge on read: %v, partitioned by %q, %+v, grace time %s, at times none: %v, minimum age %s, one by one: %v",
		map[timeline.Layout]string{1: "6", 2: "9"}[h.m.layout], h.m.mor, w.shape.fields, h.policy, h.grace, h.hasty, h.minAge, h.paced)
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
		name := h.names[h.one(len(h.names))]
		r := blobtest.Ref{Key: fmt.Sprint("k", i), Path: spelled(name), Managed: h.one(5) > 0}
		if h.one(6) == 0 {
			odd := []string{"s3a://media/" + name, "s3://media//" + name, "s3n://media/./" + name, fmt.Sprintf("s3://media/%%%x", name)}
			r.Path = odd[h.one(len(odd))]
		}
		if h.w.there(name) {
			r.Length = int64(h.one(2))
			r.Column = []string{"img", "img", "other", "st.b"}[h.one(4)]
			refs = append(refs, r)
		}
	}
	return refs
}

// step does one thing to the table. within: while a run is under way.
func (h *blobHistory) step(within bool) {
	m := h.m
	n := 26
	if within {
		n = 18
	}
	step := h.one(n)
	h.t.Logf("%s: step %d, within a run: %v", h.w.now.Format(time.DateTime), step, within)
	switch step {
	case 0, 1, 2, 3:
		h.wholeWrite(within)
	case 4: // a write that stays in flight
		w := m.begin(m.writeAction())
		h.write(w)
		if within && h.risky(w) {
			h.began(w)
		}
	case 5: // one that hasn't written anything yet
		m.begin(m.writeAction())
	case 6, 7:
		h.goOn(within)
	case 8, 9:
		h.schedule()
	case 10, 11:
		h.serve()
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
		h.upload(h.names[h.one(len(h.names))])
	case 17:
		h.linger()
	case 18: // another cleaner finishes what is pending, or gives it up
		if at := m.pendingClean(); at != "" && h.one(4) == 0 {
			m.forget(at, "clean")
		} else if at != "" {
			h.lost(m.finish(at), true)
		}
	default:
		h.prepare()
		h.clean()
	}
}

// wholeWrite is a write from its beginning to its end. At times a blob that it
// may refer to is uploaded first.
func (h *blobHistory) wholeWrite(within bool) {
	if name := h.names[h.one(len(h.names))]; !h.w.there(name) {
		h.upload(name)
	}
	w := h.m.begin(h.m.writeAction())
	h.write(w)
	h.end(w, within)
}

// goOn goes on with a write in flight.
func (h *blobHistory) goOn(within bool) {
	m := h.m
	if len(m.open) == 0 {
		return
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
}

// serve performs a service, or gives up a clustering.
func (h *blobHistory) serve() {
	if len(h.m.services) == 0 {
		return
	}
	s := h.m.services[h.one(len(h.m.services))]
	if s.action.Comparable() == timeline.ReplaceCommit && h.one(4) == 0 {
		h.m.rollback(s)
	} else {
		h.m.perform(s)
	}
}

// prepare makes it likely that a clean finds something to do: most of what is
// in flight ends, and some whole writes come.
func (h *blobHistory) prepare() {
	for len(h.m.open) > 0 && h.one(6) > 0 {
		h.goOn(false)
	}
	for len(h.m.services) > 0 && h.one(4) > 0 {
		h.serve()
	}
	for range 1 + h.one(4) {
		h.wholeWrite(false)
	}
	h.linger()
}

// linger lets up to an hour go by, or up to two and a half days.
func (h *blobHistory) linger() {
	h.w.tick(time.Duration(h.one(60)) * time.Minute)
	if h.yes() {
		h.w.pass(h.one(60))
	}
}

func (h *blobHistory) upload(name string) {
	h.w.upload(name)
	delete(h.letGo, name)
	h.anew = append(h.anew, name)
	if h.under != nil {
		h.under.lives[name] = blobLife{uploaded: h.w.now, unseen: true}
	}
}

// write writes the files of a write: of one or two groups.
func (h *blobHistory) write(w *modelWrite) {
	m := h.m
	for range 1 + h.one(2) {
		list := m.names(func(g modelGroup) bool { return !g.busy && g.last < w.at })
		group := ""
		if len(list) > 0 && h.one(8) > 0 {
			group = list[h.one(len(list))]
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
	gone := h.gone(before)
	h.lost(gone, false)
	for _, f := range gone {
		h.adrift = append(h.adrift, h.w.refs[f]...)
	}
}
