package sweep

import (
	"fmt"
	"os"

	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// What docs/blobs.md, "Writers that use a path again", promises to writers, and
// what it asks of them.

// risky reports whether a write's files, which it wrote just now while a run is
// under way, may refer to a blob that this run deletes. Then the write must ask,
// unless it is completed before the intent is published.
func (h *blobHistory) risky(w *modelWrite) bool {
	entries := h.w.entries()
	for _, p := range w.parts {
		for _, r := range p.refs {
			for _, e := range entries {
				if objectOf(e.Path) == objectOf(r.Path) && e.Enqueued < w.at && !h.promised(e) {
					return true
				}
			}
		}
	}
	return false
}

// promised reports whether a queued blob may be referred to now, without asking:
// within its grace time and while it is young no drain has taken it up, and one
// that was uploaded since it was queued is another object, which the drain sees
// when it looks at it before it deletes it.
func (h *blobHistory) promised(e blobqueue.Entry) bool {
	name := objectOf(e.Path)
	info, err := os.Stat(h.w.path("blobs/" + name))
	if err != nil {
		return false
	}
	uploaded, grace := info.ModTime(), h.grace
	if h.hasty {
		grace = 0
	}
	switch {
	case h.w.now.Sub(e.At) < grace, h.w.now.Sub(uploaded) < h.minAge:
		return true
	case !uploaded.After(e.At):
		return false
	}
	return h.under == nil || !h.under.lives[name].unseen || !h.m.draining()
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

// cross commits a write that doesn't ask, while one blob of several is being
// deleted: what it refers to of the others lives on, as the run looks between
// two deletes at what was completed.
func (h *blobHistory) cross(dying string) {
	var refs []blobtest.Ref
	for _, r := range h.waiting() {
		if objectOf(r.Path) != dying && h.one(3) > 0 {
			refs = append(refs, r)
		}
	}
	w := h.m.begin(h.m.writeAction())
	h.m.write(w, h.m.group("1"), refs)
	h.m.complete(w, false)
}

// waiting is a reference to each blob that is queued and there.
func (h *blobHistory) waiting() (refs []blobtest.Ref) {
	for i, e := range h.w.entries() {
		if h.w.there(objectOf(e.Path)) {
			refs = append(refs, blobtest.Ref{Key: fmt.Sprint("k", i), Path: e.Path, Managed: true})
		}
	}
	return refs
}
