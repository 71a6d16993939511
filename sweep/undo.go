package sweep

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/hudi"
)

// Restore moves what a run put into quarantine back to its place, where
// nothing stands there by now. emit is told each object; it may be nil.
//
// Errors: Invalid for a journal without a quarantine or a path that isn't in
// it; Partial, Interrupted.
func (e *Engine) Restore(ctx context.Context, req UndoRequest, emit func(Outcome)) (Result, error) {
	started := e.Now()
	u, head, err := e.undo(ctx, req, emit)
	if err != nil {
		return Result{}, err
	}
	root, err := lake.ParseRoot(head.Table)
	if err != nil {
		return Result{}, err
	}
	if u.Table, err = e.Stores.OpenStore(ctx, root); err != nil {
		return Result{}, err
	}
	forget := func() { e.forgetFull(context.WithoutCancel(ctx), head, u.Table) }
	u.Begin = forget // a killed restore has put things back too
	paths := make([]lake.Key, len(req.Paths))
	for i, p := range req.Paths {
		paths[i] = lake.Listed(p)
	}
	done, err := reap.Restore(ctx, u, paths...)
	if done.Restored > 0 {
		forget() // a full run may have ended meanwhile that didn't see all of it
	}
	if err == nil && done.Left+done.Spared == 0 {
		e.letGo(ctx, head)
	}
	return undone(head, u, done, started, err), err
}

// forgetFull takes the last full run off a Delta table's record, for it didn't
// see what is put back.
func (e *Engine) forgetFull(ctx context.Context, head filelist.JournalHead, s store.Store) {
	if head.Format != "delta" {
		return
	}
	if err := delta.ForgetFull(ctx, s, store.Confine(s, meta.LogDir)); err != nil {
		e.Log.Warn("the last full run is still on record: run the next plan with --mode full to find what is put back", "table", head.Table, "error", err)
	}
}

// letGo ends what holds a Hudi table's external blobs: the quarantine is empty.
func (e *Engine) letGo(ctx context.Context, head filelist.JournalHead) {
	if head.Format != "hudi" {
		return
	}
	root, err := lake.ParseRoot(head.Table)
	if err == nil {
		var s store.Store
		if s, err = e.Stores.OpenStore(ctx, root); err == nil {
			err = blobs.LetGo(ctx, store.Confine(s, hudi.Dir), head)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a table that is gone holds nothing
		e.Log.Warn("external blobs of the table still wait for the quarantine, though it is empty: run the same command again", "table", head.Table, "error", err)
	}
}

// Purge deletes for good what has lain in quarantine for req.OlderThan.
//
// Errors: Invalid for a journal without a quarantine; Partial, Interrupted.
func (e *Engine) Purge(ctx context.Context, req UndoRequest, emit func(Outcome)) (Result, error) {
	started := e.Now()
	u, head, err := e.undo(ctx, req, emit)
	if err != nil {
		return Result{}, err
	}
	done, err := reap.Purge(ctx, u, e.Now().Add(-req.OlderThan))
	if err == nil && done.Left == 0 {
		e.letGo(ctx, head)
	}
	return undone(head, u, done, started, err), err
}

// undo opens a journal and the quarantine that it is the index of.
func (e *Engine) undo(ctx context.Context, req UndoRequest, emit func(Outcome)) (u reap.Undo, head filelist.JournalHead, err error) {
	log, err := e.journals().Find(ctx, req.Journal)
	if err != nil {
		return u, head, err
	}
	have, err := filelist.ReadJournal(ctx, log)
	if err != nil {
		return u, head, err
	}
	head = have.Head
	if head.Quarantine == "" {
		return u, head, &lake.Error{Op: "open journal", Table: head.Table, Kind: lake.Invalid,
			Err: errors.New("that run deleted; nothing lies in quarantine"), Hint: "Only runs with --quarantine can be undone."}
	}
	if u.Journal, err = filelist.OpenJournal(ctx, log, head); err != nil {
		return u, head, err
	}
	root, err := lake.ParseRoot(head.Quarantine)
	if err != nil {
		return u, head, err
	}
	if req.Begun != nil {
		req.Begun(head.Table)
	}
	u.Now = e.Now
	if emit != nil {
		u.Outcome = func(o reap.Outcome) {
			emit(Outcome{Key: o.Key, URI: o.URI, Reason: o.Reason, Outcome: o.Outcome, Err: o.Err})
		}
	}
	u.Quarantine, err = e.Stores.OpenStore(ctx, root)
	return u, head, err
}

// undone sums up what a restore or a purge did since started, and how it ended.
func undone(head filelist.JournalHead, u reap.Undo, done reap.Undone, started time.Time, err error) Result {
	r := Result{Table: head.Table, PlanID: head.PlanID, Journal: u.Journal.Place(), Restored: done.Restored, Purged: done.Purged}
	r.Gone, r.Spared, r.Failed, r.Complete = done.Gone, done.Spared, done.Failed, err == nil && done.Left == 0
	if r.Moved = done.Bytes; done.Purged > 0 {
		r.Bytes, r.Moved = done.Bytes, 0
	}
	r.Seconds = u.Now().Sub(started).Seconds()
	return r
}
