package sweep

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Random histories on real files: shared, moved, re-added and unmanaged
// references, replaced groups, writes in flight that end or are rolled back,
// time, faults at any call, writers that ask. Nothing that a file refers to
// dies; in the end what our cleans let go is gone, unless it is referred to.
func TestRandomBlobHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred cleans")
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newBlobWorld(rt, t)
		if rapid.Bool().Draw(rt, "merge on read") {
			w.mergeOnRead()
		}
		names := []string{"a", "b", "c"}
		w.upload(names...)
		w.pass(72)
		h := &blobHistory{w: w, rt: rt, names: names}
		for range rapid.IntRange(6, 18).Draw(rt, "steps") {
			h.step()
			w.check()
		}
		h.finish()
	})
}

type blobHistory struct {
	w            *blobWorld
	rt           *rapid.T
	names        []string
	open, groups map[string]string // write in flight → its file, its group
}

func (h *blobHistory) some() []string {
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(h.names), 0, 2, rapid.ID[string]).Draw(h.rt, "refs")
	var out []string
	for _, n := range chosen {
		if h.w.there(n) {
			out = append(out, n)
		}
	}
	return out
}

func (h *blobHistory) group() string {
	return rapid.SampledFrom([]string{"1a", "2c"}).Draw(h.rt, "group")
}

func (h *blobHistory) step() {
	w := h.w
	switch rapid.IntRange(0, 9).Draw(h.rt, "step") {
	case 9: // a slice with a write in flight isn't compacted
		if len(h.open) == 0 {
			w.compact(h.group())
		}
	case 0, 1, 2:
		h.commit(w.begin(), h.group())
	case 3:
		if h.open == nil {
			h.open, h.groups = map[string]string{}, map[string]string{}
		}
		at := w.begin()
		group := h.group()
		if s := w.slices[group]; w.mor && s == nil {
			h.commit(at, group) // a group begins with a base file that is complete
			return
		}
		h.open[at], h.groups[at] = w.file(at, group, h.some()...), group
	case 4:
		for at, f := range h.open {
			delete(h.open, at)
			if rapid.Bool().Draw(h.rt, "rolled back") {
				w.rollback(at, f)
				if s := w.slices[h.groups[at]]; s != nil && s.logs == 0 {
					delete(w.slices, h.groups[at]) // its base file went
				}
				return
			}
			w.complete(at, []string{f})
			return
		}
	case 5:
		w.upload(rapid.SampledFrom(h.names).Draw(h.rt, "uploaded"))
	default:
		w.pass(rapid.SampledFrom([]int{1, 30}).Draw(h.rt, "hours"))
		h.clean()
	}
}

// commit asks and commits, or takes its file back.
func (h *blobHistory) commit(at, group string) {
	w := h.w
	before := w.slices[group]
	f := w.file(at, group, h.some()...)
	if len(w.ask(at, f).Conflicts) > 0 {
		w.rollback(at, f)
		if before == nil {
			delete(w.slices, group)
		}
		return
	}
	w.complete(at, []string{f})
}

func (h *blobHistory) clean() {
	w := h.w
	fault := int64(0)
	if rapid.Bool().Draw(h.rt, "faulty") {
		fault = rapid.Int64Range(1, 120).Draw(h.rt, "fault")
	}
	injection := store.Injection{Err: errors.New("fault"), When: store.Moment(rapid.IntRange(0, 2).Draw(h.rt, "moment")), Kill: rapid.Bool().Draw(h.rt, "kill")}
	w.faults = store.NewFaults(store.FailNth(fault, injection))
	_, err := w.clean(w.request())
	w.faults = nil
	if err != nil && fault == 0 && lake.KindOf(err) != lake.Stale {
		h.rt.Fatal(err)
	}
}

func (h *blobHistory) finish() {
	w := h.w
	for at, f := range h.open {
		w.complete(at, []string{f})
	}
	for range 3 {
		w.pass(30)
		if _, err := w.clean(w.request()); err != nil {
			h.rt.Fatal(err)
		}
		w.check()
	}
	if q := w.queued(); q != "" {
		h.rt.Fatalf("still queued: %s", q)
	}
}
