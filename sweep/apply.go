package sweep

import (
	"context"
	"errors"

	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/sweep/internal/apply"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
)

// Apply carries out a plan: it opens the table anew, has the guards clear the
// plan, deletes what nothing came to need since, and records what was done.
// emit is told each row, one at a time; it may be nil.
//
// When ctx is cancelled the running batches are finished and journaled. The
// same plan with the same journal goes on where an earlier run ended.
//
// Errors: Partial, Limit, Interrupted, Stale, Refused, Locked, Denied, those
// of the table and the stores. The Result holds what was done, with an error too.
func (e *Engine) Apply(ctx context.Context, p *plan.Plan, req ApplyRequest, emit func(Outcome)) (result Result, err error) {
	started := e.Now()
	h := p.Head()
	result = Result{Table: h.Table, PlanID: h.PlanID}
	var external *blobs.Run
	var job reap.Job
	var o reap.Options
	if h.Format == "hudi" {
		job, o, external, err = e.clean().Job(ctx, p, &h, req.run())
	} else {
		job, o, err = e.apply().Delta(ctx, p, &h, req.run())
	}
	defer func() { err = errors.Join(err, apply.Release(ctx, job)) }()
	if err != nil {
		return result, err
	}
	result.Journal = job.Journal.Place()
	if emit != nil {
		o.Outcome = func(r reap.Outcome) {
			emit(Outcome{Key: r.Key, URI: r.URI, Reason: r.Reason, Outcome: r.Outcome, Err: r.Err})
		}
	}
	run := reap.Run
	if external != nil {
		run = external.Run
	}
	done, err := run(ctx, job, o)
	if external != nil {
		result.Queued, result.LockHeld = external.Queued(), external.LockHeld()
	}
	own := done.Own()
	result.Result, result.Quarantined, result.Moved, result.Resumed, result.Limit = own.Result, own.Quarantined, own.Moved, own.Resumed, own.Limit
	result.Versioned = h.Evidence.Versioned && !o.AllVersions
	if external != nil {
		result.Versioned = result.Versioned || external.Versioned()
	}
	if h.Evidence.SoftDelete > 0 {
		result.HeldUntil = e.Now().Add(h.Evidence.SoftDelete)
	}
	result.Seconds = e.Now().Sub(started).Seconds()
	return result, err
}

// apply opens what carrying out a plan takes.
func (e *Engine) apply() *apply.Host {
	return &apply.Host{Places: e.places(), Journals: e.journals(), Observe: e.Observe, Tool: e.Tool}
}

// run is the request as the packages that open a run take it.
func (r ApplyRequest) run() apply.Request {
	return apply.Request{
		MaxDelete: r.MaxDelete, MaxBytes: r.MaxBytes, MaxDuration: r.MaxDuration, Quarantine: r.Quarantine, Trash: r.Trash,
		Journal: r.Journal, CommitLog: r.CommitLog, AllVersions: r.AllVersions, BlobsWait: r.BlobsWait,
		Workers: r.Tuning.Workers, DeleteRate: r.Tuning.DeleteRate, Memory: r.Tuning.Memory,
	}
}
