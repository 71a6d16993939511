package clean

import (
	"context"
	"errors"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
)

// Plan works out what a clean of the table would delete. With out the plan is
// written to that file, else it holds its rows until its Close.
//
// Errors: Invalid; those of the table and the store.
func (host *Host) Plan(ctx context.Context, p *place.Place, req Request, out string) (*plan.Plan, error) {
	started := host.Places.Now()
	run, err := host.Open(ctx, p, req)
	if err != nil {
		return nil, err
	}
	enclosed, err := host.Places.Enclosing(ctx, run.Root, run.Aliases...)
	if err != nil {
		return nil, err
	}
	blocked, err := run.unready(ctx)
	if err != nil {
		return nil, err
	}
	clean, err := run.table.Plan(ctx, run.config)
	if err != nil {
		return nil, err
	}
	rows := filelist.NewSorter("", run.req.Memory/4)
	made, err := run.write(ctx, clean, rows, filelist.Evidence{EnclosedBy: enclosed, Blocked: blocked}, out, started)
	if err != nil || out != "" {
		err = errors.Join(err, rows.Close())
	}
	return made, err
}

func (run *Run) write(ctx context.Context, clean *cleanplan.Plan, rows *filelist.Sorter, seen filelist.Evidence, out string, started time.Time) (*plan.Plan, error) {
	j, err := run.judge(ctx, clean, rows)
	if err != nil {
		return nil, err
	}
	h := run.head(clean, j, seen)
	if h.Guards, err = guard.Check(h, run.req.Guards); err != nil {
		return nil, err
	}
	batch := int64(max(run.Reader.Traits().DeleteBatch, 1))
	h.Totals.DeleteRequests = (h.Totals.Dead-h.Totals.ByReason[string(lake.ExpiredBlob)].Objects+batch-1)/batch + h.Totals.DeadDirectories
	h.Totals.Seconds = run.host.Places.Now().Sub(started).Seconds()
	if out != "" {
		return plan.Create(ctx, out, h, rows.Sorted())
	}
	return plan.Hold(ctx, h, rows.Sorted(), rows.Close)
}

// judged is what came of the verdicts of a clean.
type judged struct {
	totals   filelist.Totals
	state    map[string]string // what carrying the plan out needs to know
	unqueued []string          // columns of blobs that are let go and not queued
}

// judge adds the rows of a clean, and of the blobs that it lets go.
func (run *Run) judge(ctx context.Context, clean *cleanplan.Plan, rows *filelist.Sorter) (j judged, err error) {
	totals := &j.totals
	totals.ByReason = map[string]filelist.Count{}
	external := run.Blobs()
	seenBlobs, err := external.Look(ctx)
	if err != nil {
		return j, err
	}
	planner, err := external.Planner(ctx, seenBlobs)
	if err != nil {
		return j, err
	}
	for v, err := range clean.Verdicts(ctx) {
		if err != nil {
			return j, err
		}
		if v.Directory {
			totals.DeadDirectories++
		} else {
			totals.Count(&v)
		}
		if planner != nil {
			planner.Seen(&v)
		}
		if err := rows.Add(v); err != nil {
			return j, err
		}
	}
	s := &clean.Summary
	if planner != nil {
		notes, err := planner.Rows(ctx, rows, totals)
		if err != nil {
			return j, err
		}
		s.Warnings = append(s.Warnings, notes...)
		s.ListRequests += run.table.Listed()
	}
	unqueued, notes := external.Unqueued(seenBlobs, clean, totals)
	j.unqueued, s.Warnings = unqueued, append(s.Warnings, notes...)
	totals.Candidates, totals.Protected, totals.Foreign, totals.ListRequests = s.Candidates, s.Protected, s.Foreign, s.ListRequests
	j.state, err = clean.State()
	if err == nil {
		err = run.remember(j.state)
		seenBlobs.Remember(j.state)
	}
	if err == nil && planner != nil && run.req.Blobs.Mode == "delete" {
		j.state[blobs.StateKey], err = external.State()
	}
	return j, err
}

// head is the plan's, but for what the guards say and what it took.
func (run *Run) head(clean *cleanplan.Plan, j judged, seen filelist.Evidence) filelist.Head {
	s := &clean.Summary
	h := filelist.Head{
		PlanID: plan.NewID(run.Now), Tool: run.host.Tool, Table: run.Root.String(), Given: run.Given, TableID: run.table.ID(), Format: "hudi",
		Instant: run.table.LastInstant(), Created: run.Now.UTC(), Mode: string(run.config.Policy), ModeWhy: clean.Why, State: j.state, Totals: j.totals,
		Evidence: filelist.Evidence{
			Listed: true, LiveExpected: s.LiveFiles, LiveSeen: s.LiveFiles - s.MissingCount, LiveMissing: s.LiveMissing, MissingCount: s.MissingCount,
			LiveFiles: s.LiveFiles, LiveBytes: s.LiveBytes, ClockSkew: run.Skew, EnclosedBy: seen.EnclosedBy, Blocked: seen.Blocked,
			Versioned: run.Status.Versioned, SoftDelete: run.Status.SoftDelete, Warnings: append(run.table.Warnings(), s.Warnings...), Unqueued: j.unqueued,
		},
	}
	if h.Cutoff = run.config.Cutoff.UTC(); h.Cutoff.IsZero() {
		h.Cutoff = clean.Cutoff().UTC()
	}
	return h
}
