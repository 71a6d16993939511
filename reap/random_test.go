package reap_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// Random plans under random limits, workers and faults, killed several times,
// while a writer takes objects back at random calls: what lives and what was
// taken back stays, the rest is gone in the end, and all that went is journaled.
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var dead []string
		for i := range rapid.IntRange(0, 12).Draw(rt, "files") {
			dead = append(dead, fmt.Sprintf("p=%d/f%d", i%3, i))
		}
		for i := range rapid.IntRange(0, 2).Draw(rt, "directories") {
			dead = append(dead, fmt.Sprintf("d%d/", i))
		}
		traits := mem.Default()
		traits.IfMatch = rapid.Bool().Draw(rt, "conditional")
		traits.DeleteBatch = rapid.IntRange(1, 4).Draw(rt, "request")
		w := newWorld(t, traits, dead...)
		w.opt.Workers = rapid.IntRange(1, 4).Draw(rt, "workers")
		w.opt.BatchSize = rapid.IntRange(1, 5).Draw(rt, "batch")
		w.opt.MaxDelete = rapid.Int64Range(0, 5).Draw(rt, "limit")
		w.opt.RefreshEvery = 1
		w.opt.Now = ticking()
		if rapid.Bool().Draw(rt, "aged") {
			w.aged()
		}
		if rapid.Bool().Draw(rt, "quarantine") {
			w.opt.Quarantine = &reap.Quarantine{Root: shelf}
		}
		writer := &writer{w: w, at: map[int64]lake.Key{}, taken: map[lake.Key]store.Info{}}
		for _, v := range w.rows {
			if w.opt.Workers == 1 && !v.Directory && rapid.IntRange(0, 4).Draw(rt, "taken back") == 0 {
				writer.at[rapid.Int64Range(1, 60).Draw(rt, "when")] = v.Key
			}
		}
		w.watch.refreshed, w.watch.protects = writer.refreshed, map[lake.Key]int{}
		cleared := w.cleared()
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			fault := rapid.SampledFrom([]store.Injection{{}, {Kill: true}, {Kill: true, When: store.Half}, {Kill: true, When: store.After}, {Err: errors.New("broken"), When: store.Half}}).Draw(rt, "fault")
			n := rapid.Int64Range(1, 60).Draw(rt, "at")
			w.faults = store.NewFaults(func(c store.Call) store.Injection {
				writer.step()
				if c.N == n {
					return fault
				}
				return store.Injection{}
			})
			if _, err := w.apply(context.Background(), cleared); err != nil {
				rt.Logf("ended by %v", err)
			}
			w.sound()
		}
		w.faults, w.opt.MaxDelete = nil, 0
		res, err := w.apply(context.Background(), cleared)
		if err != nil || !res.Complete {
			rt.Fatalf("last run: %+v, %v", res, err)
		}
		for _, v := range w.rows {
			if _, taken := writer.taken[v.Key]; w.exists(v) && !taken {
				rt.Fatalf("%s is left", v.Key)
			}
		}
		for k, was := range writer.taken {
			if now, err := w.table.Stat(context.Background(), string(k)); err != nil || now != was {
				rt.Fatalf("%s was taken back and is gone: %v", k, err)
			}
		}
		w.sound()
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

// writer commits, at given calls of any run, that it needs an object again. The
// guardian's next refresh sees the commit. What is gone by then can't be taken
// back: the last refresh before a batch is the moment that counts.
type writer struct {
	w     *world
	calls int64
	at    map[int64]lake.Key
	wants []lake.Key
	taken map[lake.Key]store.Info
}

// step is called with every call of a run, one at a time.
func (w *writer) step() {
	w.calls++
	if k, ok := w.at[w.calls]; ok {
		w.wants = append(w.wants, k)
	}
}

// refreshed is called when the guardian reads the log. With one worker no
// batch is under way then.
func (w *writer) refreshed() {
	for _, k := range w.wants {
		if info, err := w.w.table.Stat(context.Background(), string(k)); err == nil {
			w.taken[k] = info
			w.w.watch.protects[k] = 0
		}
	}
	w.wants = nil
}
