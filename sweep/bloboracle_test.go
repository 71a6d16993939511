package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

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

// lost notes files that went, by a clean that queues blobs or otherwise. A blob
// whose last reference is an unmanaged one needn't die.
func (h *blobHistory) lost(files []string, queued bool) {
	for _, f := range files {
		h.t.Logf("  %s went, queued: %v, refers to %v", f, queued, h.w.refs[f])
		for _, b := range h.w.refs[f] {
			delete(h.letGo, b)
		}
	}
	for _, f := range files {
		for _, b := range h.m.managed[f] {
			if queued {
				h.letGo[b] = true
			}
		}
	}
}

// release takes savepoints away that hold a file of a pending clean: they came
// as it was published, which the table's lock forbids, that our runs don't take here.
func (h *blobHistory) release() {
	at := h.m.pendingClean()
	if at == "" {
		return
	}
	planned := h.m.planned(at)
	for save, files := range maps.Clone(h.m.saved) {
		if slices.ContainsFunc(files, func(f string) bool { return planned[f] }) {
			h.m.unsave(save)
		}
	}
}

// blobRun is a run of ours that is under way, as far as its blobs are concerned.
type blobRun struct {
	grace time.Duration
	lives map[string]blobLife // blobs that are there, as of the last look
	// deletes: it has begun to delete, so that blobs may die from now on.
	deletes bool
}

type blobLife struct {
	uploaded time.Time
	unseen   bool // uploaded since the run looked at it last
}

// watching begins to watch what dies in a run.
func (h *blobHistory) watching(grace time.Duration) *blobRun {
	r := &blobRun{grace: grace, lives: map[string]blobLife{}}
	for _, n := range h.names {
		if info, err := os.Stat(h.w.path("blobs/" + n)); err == nil {
			r.lives[n] = blobLife{uploaded: info.ModTime()}
		}
	}
	return r
}

// deaths fails if a blob died since the last look that wasn't queued for the
// grace time, is younger than it may be, or was uploaded since it was queued. A
// disk deletes whatever stands there by now: what was uploaded since the run
// looked last may die.
func (h *blobHistory) deaths() {
	h.t.Helper()
	for n, life := range h.under.lives {
		if h.w.there(n) {
			continue
		}
		delete(h.under.lives, n)
		h.t.Logf("  %s dies", n)
		if life.unseen {
			continue
		}
		why := []string{n + " died, and it wasn't queued"}
		for _, e := range h.w.entries() {
			if e.Path != spelled(n) && e.Path != "s3a://media/"+n {
				continue
			}
			early := h.early(life, e.At)
			if early == "" {
				why = nil
				break
			}
			why = append(why, fmt.Sprintf("%s, uploaded at %s, and queued at %s as %s, died %s, at %s", n, life.uploaded, e.At, e.Path, early, h.w.now))
		}
		if why != nil {
			h.t.Fatal(why[len(why)-1])
		}
	}
}

// early says why a blob that was queued at some time mustn't have died yet, ""
// if it may.
func (h *blobHistory) early(life blobLife, queued time.Time) string {
	switch now := h.w.now; {
	case now.Sub(queued) < h.under.grace:
		return "within its grace time"
	case now.Sub(life.uploaded) < h.minAge:
		return "young"
	case life.uploaded.After(queued):
		return "though it is another by now"
	}
	return ""
}

// gaveUp reports an error that a run may end with if the table changes under it.
// The world's clock goes on only when something happens, so that a commit that
// comes while a run plans lies in the future.
func gaveUp(err error) bool {
	switch lake.KindOf(err) {
	case lake.Stale, lake.Transient, lake.Partial, lake.Refused:
		return true
	}
	// An instant that was there when the timeline was listed, or a clean that another run completed.
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)
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
		w.pass(61)
		before, _, err := h.carryOut(h.request(), false, undisturbed)
		if err != nil && n > 0 {
			h.t.Fatal(err)
		}
		h.lost(h.gone(before), true)
		m.check()
	}
	if q := w.queued(); q != "" {
		h.t.Fatalf("still queued: %s", q)
	}
	kept := map[string]bool{}
	for f, blobs := range w.refs {
		for _, b := range blobs {
			kept[b] = kept[b] || m.has(f)
		}
	}
	for b := range h.letGo {
		if !kept[b] && w.there(b) {
			h.t.Fatalf("%s was let go by our cleans, nothing refers to it, and it is still there", b)
		}
	}
}
