package reap_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// Fail, or kill the run at, the n-th call of any store, for every n; then apply
// the same plan with the same journal again: nothing that lives is ever gone,
// all that is dead is gone in the end, all of it is journaled, and a third run
// deletes nothing.
func TestFaultAtEveryCall(t *testing.T) {
	broken := errors.New("broken")
	injections := map[string]store.Injection{
		"fail before": {Err: broken}, "fail half": {Err: broken, When: store.Half}, "fail after": {Err: broken, When: store.After},
		"kill before": {Kill: true}, "kill half": {Kill: true, When: store.Half}, "kill after": {Kill: true, When: store.After},
	}
	dead := []string{"a", "b", "p=1/a", "p=1/b", "p=1/c", "p=1/d", "p=2/a", "z/"}
	for kind, traits := range map[string]store.Traits{"conditional": small(mem.Default()), "unconditional": small(poor())} {
		for _, quarantine := range []bool{false, true} {
			for how, injection := range injections {
				t.Run(fmt.Sprintf("%s, quarantine %v, %s", kind, quarantine, how), func(t *testing.T) {
					var cleared guard.Cleared
					for n := int64(1); ; n++ {
						w := newWorld(t, traits, dead...)
						w.opt.BatchSize = 3
						if kind == "unconditional" {
							w.head.Created = now.Add(-11 * 60 * 1e9) // so that each is stat'ed
						}
						if quarantine {
							w.opt.Quarantine = &reap.Quarantine{Root: shelf}
						}
						w.faults = store.NewFaults(store.FailNth(n, injection))
						if n == 1 {
							cleared = w.cleared()
						}
						_, err := w.apply(context.Background(), cleared)
						calls := w.faults.Calls()
						if calls < n {
							if err != nil {
								t.Fatalf("without a fault: %v", err)
							}
							t.Logf("%d calls", calls)
							return
						}
						w.sound() // what is gone after the fault stands in the journal already
						res, err := w.apply(context.Background(), cleared)
						if err != nil || !res.Complete {
							t.Fatalf("fault %d: again: %+v, %v", n, res, err)
						}
						w.sound()
						if left := w.left(); len(left) > 0 {
							t.Fatalf("fault %d: left %q", n, left)
						}
						if quarantine {
							shelved(t, w, n)
						}
						if len(w.record.confirmed) != 7 || w.record.state != "complete" {
							t.Fatalf("fault %d: %s with %d confirmed", n, w.record.state, len(w.record.confirmed))
						}
						writes := 0
						w.faults = store.NewFaults(func(c store.Call) store.Injection {
							if c.Op == "delete" || c.Op == "rmdir" || c.Op == "copy" {
								writes++
							}
							return store.Injection{}
						})
						if res, err := w.apply(context.Background(), cleared); err != nil || !res.Complete || writes > 0 {
							t.Fatalf("fault %d: a run with nothing to do: %+v, %v, %d deletes", n, res, err, writes)
						}
						if t.Failed() {
							t.Fatalf("at fault %d", n)
						}
					}
				})
			}
		}
	}
}

// shelved checks that what was moved is in quarantine by the journal.
func shelved(t *testing.T, w *world, n int64) {
	t.Helper()
	undo := w.undo()
	done, err := reap.Restore(context.Background(), undo)
	if err != nil || done.Restored != 7 {
		t.Fatalf("fault %d: restored %+v, %v; in quarantine %q", n, done, err, w.shelf.Names())
	}
	if left := w.shelf.Names(); len(left) > 0 {
		t.Fatalf("fault %d: still in quarantine %q", n, left)
	}
	for _, v := range w.rows {
		if !v.Directory && !w.exists(v) {
			t.Fatalf("fault %d: %s was not restored", n, v.Key)
		}
	}
}
