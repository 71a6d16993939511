package clean

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/apply"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/cleanrun"
)

// The keys of a plan's state that only carrying it out needs.
const (
	stateZone  = "hudi.zone"
	stateVouch = "hudi.no_other_writers"
	stateLock  = "hudi.lock" // Hudi's keys of the lock provider, JSON
)

const lockPrefix = "hoodie.write.lock."

// remember adds to a plan's state what carrying it out needs of the request.
func (run *Run) remember(state map[string]string) error {
	state[stateZone] = run.req.TimelineZone
	if run.req.NoOtherWriters {
		state[stateVouch] = "true"
	}
	data, err := json.Marshal(run.lock)
	state[stateLock] = string(data)
	return err
}

// Job opens what carrying out a plan of a Hudi table takes. external is nil for
// a plan that leaves blobs alone.
//
// Errors: Stale, Refused, Locked, Denied, Invalid; those of the table and the store.
func (host *Host) Job(ctx context.Context, p *plan.Plan, h *filelist.Head, req apply.Request) (job reap.Job, o reap.Options, external *blobs.Run, err error) {
	if err := carriesBlobs(h); err != nil {
		return job, o, nil, err
	}
	at, err := host.Places.Open(ctx, h.Table)
	if err != nil {
		return job, o, nil, err
	}
	run, err := host.Open(ctx, at, Request{Workers: req.Workers, Memory: req.Memory, TimelineZone: h.State[stateZone]})
	if err != nil {
		return job, o, external, err
	}
	if job.Cleared, err = guard.Clear(p, guard.Identity{Root: at.Root, Format: "hudi", TableID: run.table.ID()}); err != nil {
		return job, o, external, err
	}
	all, err := host.Places.Stores.OpenStore(ctx, at.Root)
	if err != nil {
		return job, o, external, err
	}
	if job.Place, err = apply.Target(all, h, req); err != nil {
		return job, o, external, err
	}
	meta := store.Confine(all, hudi.Dir)
	provider, err := host.lock(ctx, h, struct {
		store.Reader
		store.Writer
	}{all, meta})
	if err != nil {
		return job, o, external, err
	}
	options := cleanrun.Options{PlanID: h.PlanID, State: h.State, Rows: p.Rows, Lock: provider, Writer: meta, Sleep: host.Sleep}
	opening := blobs.Opening{Plan: p, Store: all, Meta: meta, Lock: provider, Alone: h.State[stateVouch] == "true", Wait: req.BlobsWait}
	if external, err = host.openBlobs(ctx, h, run, req, opening); err != nil {
		return job, o, nil, err
	}
	if external != nil {
		options.Blobs = external
	}
	clean, err := run.table.Run(options)
	if err != nil {
		return job, o, external, err
	}
	if external != nil {
		external.Around(clean)
	}
	job.Guardian, job.Recorder = clean, clean
	o = host.Apply.Options(all.Traits(), req)
	o.Reserved = func(k lake.Key) bool { return k == hudi.Dir || k.Below(hudi.Dir) }
	o.Only = func(v *lake.Verdict) bool { return v.URI == "" }
	if err = host.Apply.Finish(ctx, at.Root, h, req, &job, &o); err == nil && o.Quarantine != nil {
		err = blobs.Hold(ctx, all, meta, h, job.Journal)
	}
	return job, o, external, err
}
