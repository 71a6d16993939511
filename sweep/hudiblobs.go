package sweep

import (
	"context"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi"
)

// Blobs returns how many external blobs a plan lists, how many of them carrying
// it out may delete since they are due, and how many it queues first.
func Blobs(h *filelist.Head) (listed, due, queued int64) { return blobs.Listed(h) }

// blobs is the run's table with what is asked of its blobs.
func (run *hudiRun) blobs(e *Engine) *blobs.Table {
	host := &blobs.Host{Stores: e.Stores, Now: e.Now, Observe: e.Observe, Log: e.Log, StateDir: e.StateDir, Tool: e.Tool, Sleep: e.wait}
	host.Find = e.findHudi
	host.Open = func(ctx context.Context, name string) (*blobs.Table, error) {
		p, err := e.places().Open(ctx, name)
		if err != nil {
			return nil, err
		}
		other, err := e.openHudi(ctx, p, PlanRequest{Table: name, Tuning: run.req.Tuning, Hudi: HudiRequest{TimelineZone: run.req.Hudi.TimelineZone}})
		if err != nil {
			return nil, err
		}
		return other.blobs(e), nil
	}
	t := &blobs.Table{Host: host, Given: run.Given, Root: run.Root, Aliases: run.Aliases, Reader: run.Reader, Began: run.Now, Clock: e.hudiNow(run.Place),
		Hudi: run.table, Config: run.config.Blobs, Request: blobs.Request(run.req.Hudi.Blobs), Memory: run.req.Tuning.Memory, Workers: run.req.Tuning.Workers}
	for _, m := range run.req.Inventory.Maps {
		t.Maps = append(t.Maps, lake.BlobMap(m))
	}
	return t
}

// findHudi returns the root of a Hudi table that shares blobs.
//
// Errors: Invalid for a place that is no Hudi table.
func (e *Engine) findHudi(ctx context.Context, name string) (lake.Root, error) {
	p, err := e.places().Open(ctx, name)
	if err != nil {
		return lake.Root{}, err
	}
	found, err := hudi.Detect(ctx, p.Reader)
	if err == nil && !found {
		err = place.Invalid(name, "--also-references names no Hudi table", "Name the root of a Hudi table that shares the blobs.")
	}
	return p.Root, err
}

// openBlobs opens what carrying out the blobs of a plan takes, nil if it leaves
// them alone.
func (e *Engine) openBlobs(ctx context.Context, h *filelist.Head, run *hudiRun, req ApplyRequest, o blobs.Opening) (*blobs.Run, error) {
	state, err := blobs.ReadState(h)
	if err != nil || state == nil {
		return nil, err
	}
	if req.Quarantine != "" || req.Trash || req.AllVersions != "" {
		return nil, place.Invalid(h.Given, "--blobs delete goes with neither --quarantine, --trash nor --all-versions", "Give one of them, or clean the slices and the blobs in two runs.")
	}
	// The blobs' look at the table is their own: it goes on as the clean's stands still.
	if run, err = e.openHudi(ctx, run.Place, run.req); err != nil {
		return nil, err
	}
	o.Own = run.blobs(e)
	return blobs.Open(ctx, state, o)
}

// blobs tells what a table that refers to blobs needs of its writers.
func (d *Diagnosis) blobs(ctx context.Context, run *hudiRun) {
	columns, err := run.table.BlobColumns(ctx, run.req.Hudi.Blobs.Columns)
	if err != nil {
		d.check("blobs", err, "")
		return
	}
	if len(columns) == 0 {
		return
	}
	d.add("blobs", filelist.Warned, "The columns "+strings.Join(columns, ", ")+" refer to external blobs. What Hudi's own automatic clean, a rollback or a restore expires, no plan here sees, and a clean without --blobs queues nothing: the blobs that only those slices referred to would never be deleted.",
		"Set hoodie.clean.automatic=false (and hoodie.clean.async.enabled=false) in all writers of the table, and clean with --blobs delete alone; `lakesweep verify --blobs` lists what is left behind.")
}
