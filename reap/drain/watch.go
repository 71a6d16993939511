package drain

import (
	"cmp"
	"context"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// watch is the guardian of a drain: it makes sure that the intent stands and
// looks for references that no look before has seen. Before the first batch
// those are the files of writes in flight: a writer that asks without the lock
// has either asked after the intent was published, and was told of it, or has
// written its files by then. From then on it is what was completed since.
type watch struct {
	judge  Judge
	intent *blobqueue.Intent
	dead   Candidates
	looked bool        // at the files of writes in flight
	saved  *keyset.Set // blobs that writes came to refer to
	unread error       // why all are, if what a write refers to can't be decided on
}

// Refresh reads what was written since the last call.
//
// Errors: Stale if the intent was withdrawn; those of the judge.
func (w *watch) Refresh(ctx context.Context) error {
	if err := w.intent.Verify(ctx); err != nil {
		return err
	}
	if !w.looked {
		r, err := w.judge.InFlight(ctx, w.dead)
		if err == nil {
			err = w.save(r)
		}
		if err != nil {
			return err
		}
		w.looked = true
	}
	// After the look above, so that a write which is completed between them is seen here.
	r, _, err := w.judge.Since(ctx, w.dead)
	if err != nil {
		return err
	}
	return w.save(r)
}

// save takes down what a round doesn't call Unreferenced.
func (w *watch) save(r Round) error {
	if r == nil {
		return nil
	}
	w.unread = cmp.Or(w.unread, r.Unread())
	saved := keyset.New()
	for id, err := range w.dead {
		if err != nil {
			return err
		}
		if w.saved.Has(lake.Key(id)) || w.unread != nil || r.Of(id).Fate != blob.Unreferenced {
			saved.Add(lake.Key(id))
		}
	}
	w.saved = saved.Done()
	return nil
}

// Protected reports whether a write came to refer to a blob.
func (w *watch) Protected(k lake.Key) bool { return w.saved.Has(k) }

// record takes down what the store confirmed.
type record struct{ left *keyset.Builder }

func (record) Begin(context.Context, table.Intent) error    { return nil }
func (record) Complete(context.Context, table.Result) error { return nil }
func (record) Fail(context.Context, table.Result) error     { return nil }

func (r record) Confirm(_ context.Context, gone []lake.Key) error {
	for _, k := range gone {
		r.left.Add(k)
	}
	return nil
}
