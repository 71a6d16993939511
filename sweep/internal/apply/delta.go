package apply

import (
	"context"
	"strings"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Delta opens what carrying out a plan of a Delta table takes. What it took is
// to be released, with an error too.
//
// Errors: Stale, Refused, Locked, Denied, Invalid; those of the table and the stores.
func (host *Host) Delta(ctx context.Context, p *plan.Plan, h *filelist.Head, req Request) (job reap.Job, o reap.Options, err error) {
	at, err := host.Places.Open(ctx, h.Table)
	if err != nil {
		return job, o, err
	}
	t, err := at.Delta(ctx, req.Workers, false, host.Observe)
	if err != nil {
		return job, o, err
	}
	identity := guard.Identity{Root: at.Root, Format: "delta", TableID: t.Metadata().ID}
	if job.Cleared, err = guard.Clear(p, identity); err != nil {
		return job, o, err
	}
	all, err := host.Places.Stores.OpenStore(ctx, at.Root)
	if err != nil {
		return job, o, err
	}
	if job.Place, err = Target(all, h, req); err != nil {
		return job, o, err
	}
	lease, err := host.lease(ctx, all, h.PlanID, at.Root)
	if err != nil {
		return job, o, err
	}
	traits := all.Traits()
	guardian, err := t.Guardian(h.State, traits.CaseFolds)
	job.Guardian = guarded{guardian, lease}
	if err != nil {
		return job, o, err
	}
	if job.Recorder, err = t.Recorder(store.Confine(all, meta.LogDir), host.recording(&job, h, req, t)); err != nil {
		return job, o, err
	}
	rules := t.Rules()
	o = host.Options(traits, req)
	o.Reserved = func(k lake.Key) bool { return !rules.Visible(k) }
	err = host.Finish(ctx, at.Root, h, req, &job, &o)
	return job, o, err
}

// recording says what the run leaves in the table's log.
func (host *Host) recording(job *reap.Job, h *filelist.Head, req Request, t *delta.Table) delta.RecorderOptions {
	o := delta.RecorderOptions{
		CommitLog: req.CommitLog, Engine: strings.Replace(host.Tool, " ", "/", 1), Guardian: job.Guardian,
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
