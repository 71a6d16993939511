package sweep

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Random histories of tables with a metadata table, of versions 6, 8 and 9,
// copy-on-write and merge-on-read, on real files: inserts, updates, compaction,
// log compaction, clustering, overwriting, dropped partitions, rollback of
// failed and of complete writes, savepoints, restore, archival; a metadata table
// that is compacted, trimmed and rebuilt, whose writers die in its commit, and
// which ours do; each policy; partitions, nested ones, none; change logs. Our
// cleans delete or move into a quarantine. They fail or die at any store call, or have
// the writers, Hudi finishing our clean among them, come between any two: under
// the table's lock where Hudi takes it, else anywhere. After each of our runs what
// readers and savepoints need is there, the metadata table lists what the
// folders hold, both timelines can be read, and no clean claims more than it
// removed. In the end what is due is gone.
//
// A tenth as many as of the other random histories, from the same -seed.
func TestRandomListedHistories(t *testing.T) {
	n := max(many()/10, 1)
	inParallel(t, n, hudiFirst(t, n), func(t *testing.T, seed uint64) { newListedHistory(t, seed).run() })
}

// listedHistory is a blobHistory without blobs, of a table with a metadata table.
type listedHistory struct {
	*blobHistory
	m       *listedModel
	config  string
	floor   string // the first instant that the policy retains, by the latest run
	capped  bool
	cleaned bool // a run of ours was the latest step
}

func newListedHistory(t *testing.T, seed uint64) *listedHistory {
	w := newBlobWorld(t, t)
	b := &blobHistory{t: t, w: w, rng: rand.New(rand.NewPCG(seed, 11)), names: []string{"none"}, letGo: map[string]bool{}}
	h := &listedHistory{blobHistory: b}
	w.shaped(tableShapes[h.one(len(tableShapes))])
	h.m = newListedModel(w, []int{6, 8, 9}[h.one(3)], h.yes())
	b.m = h.m.blobModel
	if !h.m.mor && h.one(3) == 0 {
		h.m.changeLogs()
	}
	h.policy = h.anyPolicy()
	h.config = "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider\n"
	for _, key := range []string{"hoodie.clean.incremental.enabled=false", "hoodie.write.empty.clean.interval.hours=1", "hoodie.clean.trigger.max.commits=2", "hoodie.clean.max.commits.to.clean=2"} {
		if h.one(4) == 0 {
			h.config += key + "\n"
			h.capped = h.capped || strings.Contains(key, "to.clean")
		}
	}
	w.put("config", h.config)
	t.Logf("version %d, merge on read: %v, partitioned by %q, %+v\n%s", h.m.version, h.m.mor, w.shape.fields, h.policy, h.config)
	return h
}

func (h *listedHistory) run() {
	defer os.RemoveAll(h.w.dir) //nolint:errcheck // the test's own folder goes in the end
	h.whole()
	for n := range 6 + h.one(40) {
		h.cleaned = false
		if h.step(false); h.cleaned || n%3 == 0 {
			h.m.verify(h.policy, h.floor)
		}
	}
	h.finish()
}

// step does one thing to the table. within: while a run is under way.
func (h *listedHistory) step(within bool) {
	m := h.m
	if m.locked() {
		h.unlocked()
		return
	}
	if h.settle(within) {
		return
	}
	n := 30
	if within {
		n = 22
	}
	step := h.one(n)
	h.t.Logf("%s: step %d, within a run: %v", timeline.FormatTime(h.w.now, time.UTC), step, within)
	switch step {
	case 0, 1, 2, 3: // a whole write
		h.whole()
	case 4: // a write that stays in flight
		h.write(m.begin(m.writeAction()))
	case 5: // one that hasn't written anything yet
		m.begin(m.writeAction())
	case 6, 7, 8, 9:
		h.goOn()
	case 10:
		h.schedule()
	case 11:
		if len(m.services) > 0 {
			s := m.services[h.one(len(m.services))]
			if s.action.Comparable() == timeline.ReplaceCommit && h.one(4) == 0 {
				m.rollback(s)
			} else {
				h.open(s.replaced...)
				m.perform(s)
			}
		}
	case 12:
		p := []string{"1", "2"}[h.one(2)]
		h.open(p)
		if w := m.overwrite(p, nil); w != nil {
			m.complete(w)
		}
	case 13:
		if list := m.savable(); len(list) > 0 {
			m.savepoint(list[h.one(len(list))])
		}
	case 14:
		if at := h.savedOne(); at != "" && h.yes() {
			m.restore(at)
		} else if at != "" {
			m.unsave(at)
		}
	case 15, 16:
		m.archive(1+h.one(3), h.policy.RetainCommits+2)
	case 17:
		p := []string{"1", "2"}[h.one(2)]
		h.open(p)
		if w := m.drop(p); w != nil {
			m.complete(w)
		}
	case 18, 19:
		m.compactListing(h.yes())
	case 20:
		m.must(m.listing.Trim())
	case 21: // another cleaner finishes what is pending, or gives it up
		if at := m.pendingClean(); at != "" && h.one(8) == 0 && !within {
			m.giveUp(at)
		} else if at != "" {
			m.finish(at)
		}
	case 22:
		if len(m.pending()) == 0 {
			m.rebuild()
		}
	case 23:
		h.whole()
		if w, _ := m.newest(); w != nil {
			m.request(w)
		}
	default:
		for range h.one(4) {
			h.whole()
		}
		h.w.pass(h.one(3))
		h.clean()
	}
}

// whole is a whole write.
func (h *listedHistory) whole() {
	w := h.m.begin(h.m.writeAction())
	h.write(w)
	h.m.complete(w)
}

// settle finishes the requested rollback of a complete write, which Hudi does
// before anything else.
func (h *listedHistory) settle(within bool) bool {
	if w, before := h.m.newest(); w != nil && h.m.rolling[w.at] != "" && !within {
		if h.yes() {
			h.m.rollbackNewest(w, before)
		} else {
			h.clean()
		}
		return true
	}
	return false
}

// unlocked does what needs no lock.
func (h *listedHistory) unlocked() {
	m := h.m
	switch step := h.one(4); {
	case step == 0:
		m.begin(m.writeAction())
	case step == 1 && m.pendingClean() != "":
		m.deletePlanned(m.pendingClean())
	case step == 2:
		h.writeOpen()
	default:
		h.write(m.begin(m.writeAction()))
	}
}

// open makes folders partitions.
func (h *listedHistory) open(names ...string) {
	for _, n := range names {
		h.w.partition(n)
	}
}

func (h *listedHistory) write(w *modelWrite) {
	h.open("1", "2")
	h.blobHistory.write(w)
}

// writeOpen writes files of a write in flight that has none yet.
func (h *listedHistory) writeOpen() {
	for _, w := range h.m.open {
		if len(w.parts) == 0 && !h.m.torn[w.at] && h.m.rolling[w.at] == "" {
			h.write(w)
			return
		}
	}
}

// goOn goes on with a write in flight.
func (h *listedHistory) goOn() {
	m := h.m
	if len(m.open) == 0 {
		return
	}
	w := m.open[h.one(len(m.open))]
	switch dead := m.torn[w.at] || m.rolling[w.at] != ""; {
	case dead && h.yes() || h.one(5) == 0:
		if m.rolling[w.at] == "" && h.yes() {
			m.request(w)
		} else {
			m.rollback(w)
		}
	case dead:
	case len(w.parts) == 0:
		h.write(w)
	case h.one(4) == 0:
		m.dies(w, []timeline.State{timeline.Requested, timeline.Inflight, timeline.Completed}[h.one(3)])
	default:
		m.complete(w)
	}
}

func (h *listedHistory) request() PlanRequest {
	req := PlanRequest{Table: h.w.table(), Unsafe: Unsafe{MostlyDead: h.w.table()}, Hudi: h.policy, Tuning: Tuning{Workers: 1}}
	req.Hudi.Config = h.w.path("config")
	return req
}

// clean runs, undisturbed, with a fault, or with steps of the writers within.
func (h *listedHistory) clean() {
	w := h.w
	h.cleaned = true
	within, fault := false, false
	switch h.one(6) {
	case 0, 1:
		fault = true
		injection := store.Injection{Err: errors.New("fault"), When: store.Moment(h.one(3)), Kill: h.yes()}
		w.faults = store.NewFaults(store.FailNth(int64(1+h.one(250)), injection))
	case 2, 3:
		within = true
		h.within()
	}
	apply := ApplyRequest{}
	if h.one(5) == 0 {
		apply.Quarantine = w.path("quarantine")
	}
	r, err := w.cleanBy(h.request(), apply)
	w.faults = nil
	h.t.Logf("  the clean deleted %d, moved %d, spared %d: %v", r.Deleted, r.Quarantined, r.Spared, err)
	if err != nil && !fault && !h.mayFail(err, within) {
		h.t.Fatal(err)
	}
	if h.m.locked() {
		w.remove("table/.hoodie/lock") // what a killed run held, as an administrator does
	}
	h.raise()
}

// raise notes what a run that plans now retains.
func (h *listedHistory) raise() { h.floor = max(h.floor, h.m.retained(h.policy)) }

// mayFail reports an error that a run may end with because of what the table's
// writers did; within: while it ran.
func (h *listedHistory) mayFail(err error, within bool) bool {
	if within && gaveUp(err) {
		return true
	}
	e, ok := errors.AsType[*lake.Error](err)
	switch {
	case !ok:
		return false
	case e.Code == "pending_clean": // a writer came to need a file of a pending clean
		h.m.giveUp(h.m.pendingClean())
		return true
	}
	return e.Code == "pending_rollback" && len(h.m.rolling) > 0
}

// within lets the writers come between two calls of the run to come, up to three
// times.
func (h *listedHistory) within() {
	match := func() func(store.Call) bool {
		word := []string{"", ".clean.requested", ".clean.inflight", ".deltacommit.inflight", ".log.", ".deltacommit", ".clean"}[h.one(7)]
		if word != "" {
			return func(c store.Call) bool { return c.Writes() && strings.Contains(c.Name, word) }
		}
		n := int64(1 + h.one(200))
		return func(c store.Call) bool { return c.N >= n }
	}
	next, left := match(), 3
	var faults *store.Faults
	faults = store.NewFaults(func(c store.Call) store.Injection {
		if left == 0 || !next(c) {
			return store.Injection{}
		}
		h.w.faults = nil
		h.t.Logf("  before the call %+v:", c)
		if h.one(8) == 0 && !h.m.locked() {
			if _, err := h.w.clean(h.request()); err != nil && !gaveUp(err) {
				h.t.Fatal(err)
			}
		} else {
			h.step(true)
		}
		h.raise()
		h.m.verify(h.policy, h.floor)
		h.w.faults = faults
		next = match()
		left--
		return store.Injection{}
	})
	h.w.faults = faults
}

// finish ends all that is in flight and cleans all partitions.
func (h *listedHistory) finish() {
	m := h.m
	if w, before := m.newest(); w != nil && m.rolling[w.at] != "" {
		m.rollbackNewest(w, before)
	}
	for len(m.open) > 0 {
		if w := m.open[0]; m.torn[w.at] || m.rolling[w.at] != "" {
			m.rollback(w)
		} else {
			m.complete(w)
		}
	}
	for len(m.services) > 0 {
		s := m.services[0]
		h.open(s.replaced...)
		m.perform(s)
	}
	for _, at := range slices.Sorted(maps.Keys(m.saved)) {
		m.unsave(at)
	}
	if len(m.rolling) > 0 {
		return // of a complete write that others have followed: no writer here finishes it, and every clean waits
	}
	h.open("1")
	from := ""
	for range 3 { // the trigger's commits, and what a pending clean leaves to the next one
		for range 2 {
			h.whole()
		}
		from = m.retained(h.policy)
		_, err := h.w.clean(h.request())
		if err != nil && !h.mayFail(err, false) {
			h.t.Fatal(err)
		}
		h.raise()
		m.verify(h.policy, h.floor)
	}
	if m.pendingClean() != "" {
		h.t.Fatalf("the clean %s is pending", m.pendingClean())
	}
	if h.policy.RetainVersions > 0 || from != "" && !h.capped {
		m.verifyDue(h.policy, from)
	}
	if r, err := h.w.clean(h.request()); err != nil || r.Deleted > 0 {
		h.t.Fatalf("a further run deletes %d: %v", r.Deleted, err)
	}
	var left []string
	for f, err := range h.w.engine().Verify(h.t.Context(), h.request()) {
		m.must(err)
		if !m.given[f.Path] {
			left = append(left, f.Type+" "+f.Path)
		}
	}
	if slices.Sort(left); len(left) > 0 {
		h.t.Fatalf("in the end: %q", left)
	}
}
