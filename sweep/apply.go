package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
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
		job, o, external, err = e.hudiJob(ctx, p, &h, req)
	} else {
		job, o, err = e.deltaJob(ctx, p, &h, req)
	}
	defer func() { err = errors.Join(err, release(ctx, job)) }()
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

// deltaJob opens what carrying out a plan of a Delta table takes. What
// it took is to be released, with an error too.
func (e *Engine) deltaJob(ctx context.Context, p *plan.Plan, h *filelist.Head, req ApplyRequest) (job reap.Job, o reap.Options, err error) {
	at, err := e.places().Open(ctx, h.Table)
	if err != nil {
		return job, o, err
	}
	t, err := at.Delta(ctx, req.Tuning.Workers, false, e.Observe)
	if err != nil {
		return job, o, err
	}
	identity := guard.Identity{Root: at.Root, Format: "delta", TableID: t.Metadata().ID}
	if job.Cleared, err = guard.Clear(p, identity); err != nil {
		return job, o, err
	}
	all, err := e.Stores.OpenStore(ctx, at.Root)
	if err != nil {
		return job, o, err
	}
	if job.Place, err = target(all, h, req); err != nil {
		return job, o, err
	}
	lease, err := e.lease(ctx, all, h.PlanID, at.Root)
	if err != nil {
		return job, o, err
	}
	traits := all.Traits()
	guardian, err := t.Guardian(h.State, traits.CaseFolds)
	job.Guardian = guarded{guardian, lease}
	if err != nil {
		return job, o, err
	}
	if job.Recorder, err = t.Recorder(store.Confine(all, meta.LogDir), e.recording(&job, h, req, t)); err != nil {
		return job, o, err
	}
	rules := t.Rules()
	o = reap.Options{
		Workers: req.Tuning.Workers, MaxDelete: req.MaxDelete, MaxBytes: req.MaxBytes, MaxDuration: req.MaxDuration,
		Checksums: traits.Name == "local", Reserved: func(k lake.Key) bool { return !rules.Visible(k) },
		Now: e.Now, Observe: e.Observe, DeleteRate: req.Tuning.DeleteRate,
	}
	if o.AllVersions, err = allVersions(req, h); err != nil {
		return job, o, err
	}
	quarantine := ""
	if req.Quarantine != "" {
		if o.Quarantine, err = e.quarantine(ctx, req.Quarantine, h.PlanID, at.Root); err != nil {
			return job, o, err
		}
		quarantine = o.Quarantine.Root.String()
	}
	job.Journal, err = e.journals().Open(ctx, req.Journal, h, quarantine)
	return job, o, err
}

// target returns the place that a run deletes from: the store, or with --trash
// the store whose deletes go to its trash.
func target(all store.Store, h *filelist.Head, req ApplyRequest) (store.Store, error) {
	if !req.Trash {
		return all, nil
	}
	if req.Quarantine != "" || req.AllVersions != "" {
		return nil, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid, Err: errors.New("--trash goes with neither --quarantine nor --all-versions"), Hint: "Give one of them."}
	}
	s, err := store.InTrash(all)
	if err != nil {
		return nil, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid, Err: err, Hint: "--trash is for HDFS; --quarantine moves objects on every store."}
	}
	return s, nil
}

// allVersions reports whether the user wants old versions deleted too, of this
// very table.
func allVersions(req ApplyRequest, h *filelist.Head) (bool, error) {
	if req.AllVersions != "" && req.AllVersions != h.Given {
		return false, &lake.Error{Op: "apply", Table: h.Table, Kind: lake.Invalid,
			Err:  fmt.Errorf("--all-versions names %q, but the plan's table is %q", req.AllVersions, h.Given),
			Hint: "Name the table exactly as the plan's command line did."}
	}
	return req.AllVersions != "", nil
}

// recording says what the run leaves in the table's log.
func (e *Engine) recording(job *reap.Job, h *filelist.Head, req ApplyRequest, t *delta.Table) delta.RecorderOptions {
	o := delta.RecorderOptions{
		CommitLog: req.CommitLog, Engine: strings.Replace(e.Tool, " ", "/", 1), Guardian: job.Guardian,
		Full: h.Mode == "full", Unfiltered: h.Where == "" && h.Source == "", Next: h.Watermark,
		RetentionCheck: true, DefaultRetention: h.Evidence.RetainTable.Milliseconds(),
	}
	for _, g := range h.Guards {
		o.RetentionCheck = o.RetentionCheck && g.Outcome != filelist.Overridden
	}
	if h.Evidence.Retain != h.Evidence.RetainTable {
		retain := h.Evidence.Retain.Milliseconds()
		o.SpecifiedRetention = &retain
	}
	return o
}

func (e *Engine) quarantine(ctx context.Context, prefix, planID string, table lake.Root) (*reap.Quarantine, error) {
	place, err := e.places().Root(prefix)
	if err != nil {
		return nil, err
	}
	if err := e.places().Outside(ctx, "--quarantine", prefix+"/x"); err != nil {
		return nil, err
	}
	root, err := reap.QuarantineRoot(place, planID, table)
	if err != nil {
		return nil, err
	}
	if root.Class() == "file" {
		if err := os.MkdirAll(root.String(), 0o755); err != nil {
			return nil, &lake.Error{Op: "make quarantine", Table: root.String(), Kind: lake.Invalid, Err: err, Hint: "Name a folder that can be written to."}
		}
	}
	q := &reap.Quarantine{Root: root}
	q.Store, err = e.Stores.OpenStore(ctx, root)
	return q, err
}
