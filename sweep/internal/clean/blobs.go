package clean

import (
	"context"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/sweep/internal/apply"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi"
)

// Blobs is the run's table with what is asked of its blobs.
func (run *Run) Blobs() *blobs.Table {
	host := run.host
	lent := &blobs.Host{Stores: host.Places.Stores, Now: host.Places.Now, Observe: host.Observe, Log: host.Log, StateDir: host.StateDir, Tool: host.Tool, Sleep: host.Sleep}
	lent.Find = host.find
	lent.Open = func(ctx context.Context, name string) (*blobs.Table, error) {
		p, err := host.Places.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		other, err := host.Open(ctx, p, Request{Workers: run.req.Workers, Memory: run.req.Memory, TimelineZone: run.req.TimelineZone})
		if err != nil {
			return nil, err
		}
		return other.Blobs(), nil
	}
	return &blobs.Table{Host: lent, Given: run.Given, Root: run.Root, Aliases: run.Aliases, Reader: run.Reader, Began: run.Now, Clock: host.now(run.Place),
		Hudi: run.table, Config: run.config.Blobs, Request: run.req.Blobs, Maps: run.req.Maps, Memory: run.req.Memory, Workers: run.req.Workers}
}

// find returns the root of a Hudi table that shares blobs, and its other names.
//
// Errors: Invalid for a place that is no Hudi table.
func (host *Host) find(ctx context.Context, name string) ([]lake.Root, error) {
	p, err := host.Places.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := hudi.Detect(ctx, p.Reader)
	if err == nil && !found {
		err = place.Invalid(name, "--also-references names no Hudi table", "Name the root of a Hudi table that shares the blobs.")
	}
	return append([]lake.Root{p.Root}, p.Aliases...), err
}

// openBlobs opens what carrying out the blobs of a plan takes, nil if it leaves
// them alone.
func (host *Host) openBlobs(ctx context.Context, h *filelist.Head, run *Run, req apply.Request, o blobs.Opening) (*blobs.Run, error) {
	state, err := blobs.ReadState(h)
	if err != nil || state == nil {
		return nil, err
	}
	if req.Quarantine != "" || req.Trash || req.AllVersions != "" {
		return nil, place.Invalid(h.Given, "--blobs delete goes with neither --quarantine, --trash nor --all-versions", "A clean that moves the slices queues no blobs, and no later run finds those that only these slices refer to. Leave --quarantine, --trash and --all-versions out, or plan with --blobs off if the blobs are to stay.")
	}
	// The blobs' look at the table is their own: it goes on as the clean's stands still.
	if run, err = host.Open(ctx, run.Place, run.req); err != nil {
		return nil, err
	}
	o.Own = run.Blobs()
	return blobs.Open(ctx, state, o)
}
