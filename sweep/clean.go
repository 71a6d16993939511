package sweep

import (
	"context"
	"errors"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/clean"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Blobs returns how many external blobs a plan lists, how many of them carrying
// it out may delete since they are due, and how many it queues first.
func Blobs(h *filelist.Head) (listed, due, queued int64) { return blobs.Listed(h) }

// Carries reports whether a plan can be carried out as far as its blobs go: one
// that was made to show them can't.
func Carries(h *filelist.Head) bool { return clean.Carries(h) }

func (e *Engine) clean() *clean.Host {
	return &clean.Host{Places: e.places(), Apply: e.apply(), Observe: e.Observe, Log: e.Log, StateDir: e.StateDir, Tool: e.Tool, Sleep: e.wait}
}

// hudiTable opens the table of a request if it is a Hudi table, else returns nil.
func (e *Engine) hudiTable(ctx context.Context, req PlanRequest) (*clean.Run, error) {
	p, err := e.places().Open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	format, err := p.Detect(ctx, req.Format)
	if err != nil || format != "hudi" {
		return nil, err
	}
	return e.openHudi(ctx, p, req)
}

func (e *Engine) openHudi(ctx context.Context, p *place.Place, req PlanRequest) (*clean.Run, error) {
	if err := req.fitsHudi(p); err != nil {
		return nil, err
	}
	return e.clean().Open(ctx, p, req.clean())
}

// clean is what a request asks of a Hudi table.
func (r PlanRequest) clean() clean.Request {
	h := r.Hudi
	out := clean.Request{
		Cutoff: r.Cutoff, Policy: h.Policy, RetainCommits: h.RetainCommits, RetainHours: h.RetainHours, RetainVersions: h.RetainVersions,
		Config: h.Config, TimelineZone: h.TimelineZone, NoOtherWriters: h.NoOtherWriters, Orphans: h.Orphans,
		Blobs: blobs.Request(h.Blobs), AtOnce: r.AtOnce != nil, Workers: r.Tuning.Workers, Memory: r.Tuning.Memory,
		Guards: r.guards(),
	}
	for _, m := range r.Inventory.Maps {
		out.Maps = append(out.Maps, lake.BlobMap(m))
	}
	return out
}

// fitsHudi refuses the wishes that have no meaning for Hudi tables.
func (r PlanRequest) fitsHudi(p *place.Place) error {
	switch {
	case r.Where != "":
		return &lake.Error{Op: "plan clean", Table: p.Root.String(), Kind: lake.Invalid, Err: errors.New("--where doesn't work on Hudi tables"),
			Hint: "A clean of some partitions would move the earliest commit to retain for the whole table. Leave --where out."}
	case r.Inventory.Given():
		return p.Invalid("--inventory doesn't work on Hudi tables", "A clean asks the metadata table or lists the partitions it has to look at. Leave --inventory out.")
	case r.Retain != nil:
		return p.Invalid("--retain doesn't work on Hudi tables", "Use --retain-commits, --retain-hours or --retain-versions.")
	case r.Mode == "lite":
		return p.Invalid("--mode lite doesn't work on Hudi tables", "Leave --mode out.")
	case len(r.KeepVersions) > 0 || len(r.Protect) > 0:
		return p.Invalid("--keep-version and --protect don't work on Hudi tables", "Keep an instant with one of Hudi's savepoints.")
	}
	return nil
}
