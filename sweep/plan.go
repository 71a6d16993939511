package sweep

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Plan works out what is dead in one table. It reads only. A plan that guards
// refuse is returned all the same, with the refusals in its head; it can be
// shown and not applied. With out the plan is written to that file, else to a
// temporary one that goes with the plan's Close.
//
// Errors: the table's and the stores'; Invalid for a request that can't be
// met. Where the state of the table can't be known there is no plan at all.
func (e *Engine) Plan(ctx context.Context, req PlanRequest, out string) (*plan.Plan, error) {
	started := e.Now()
	p, err := e.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	format, err := detect(ctx, p, req.Format)
	if err != nil {
		return nil, err
	}
	if format == "hudi" {
		return e.planHudi(ctx, p, req, out)
	}
	return e.planDelta(ctx, p, req, out, started)
}

func (e *Engine) planDelta(ctx context.Context, p *place, req PlanRequest, out string, started time.Time) (*plan.Plan, error) {
	run, err := e.openDelta(ctx, p, req)
	if err != nil {
		return nil, err
	}
	enclosed, err := e.enclosing(ctx, p.root)
	if err != nil {
		return nil, err
	}
	keep, err := e.protectedElsewhere(ctx, p, req.Protect)
	if err != nil {
		return nil, err
	}
	if err := run.protect(ctx, keep); err != nil {
		return nil, err
	}
	h := run.head(e.Tool, p.now)
	var dead iter.Seq2[lake.Verdict, error]
	var foreign []string
	if run.mode == "lite" {
		dead, h.Totals, err = run.lite(ctx)
	} else {
		var join *antijoin.Join
		join, err = e.candidates(ctx, run, &h)
		defer func() { err = errors.Join(err, join.Close()) }()
		if err == nil {
			var result *antijoin.Result
			if result, err = join.Finish(ctx); err == nil {
				requests := h.Totals.ListRequests
				dead, h.Totals, foreign = result.Dead(), result.Totals, result.Foreign
				h.Totals.ListRequests = requests
			}
		}
	}
	if err != nil {
		return nil, err
	}
	ev, err := run.evidence(ctx, enclosed, foreign)
	if err != nil {
		return nil, err
	}
	ev.InventoryAge = h.Evidence.InventoryAge
	ev.Outside += h.Evidence.Outside
	h.Evidence = ev
	return e.write(ctx, req, h, dead, out, p, started)
}

// candidates joins the listing or the inventory with the protected set. The
// Join is never nil.
func (e *Engine) candidates(ctx context.Context, run *deltaRun, h *filelist.Head) (*antijoin.Join, error) {
	j := e.join(run)
	stats, err := e.list(ctx, run, j)
	h.Totals.ListRequests = stats.Requests
	return j, err
}

// write asks the guards, completes the head and writes the plan.
func (e *Engine) write(ctx context.Context, req PlanRequest, h filelist.Head, dead iter.Seq2[lake.Verdict, error], out string, p *place, started time.Time) (*plan.Plan, error) {
	var err error
	h.Guards, err = guard.Check(h, guard.Options{
		RetainBelow: req.Unsafe.RetainBelow, MostlyDead: req.Unsafe.MostlyDead, MissingLive: req.Unsafe.MissingLive,
		MaxInventoryAge: req.Inventory.MaxAge,
	})
	if err != nil {
		return nil, err
	}
	batch := int64(max(p.reader.Traits().DeleteBatch, 1))
	h.Totals.DeleteRequests = (h.Totals.Dead+batch-1)/batch + h.Totals.DeadDirectories
	h.Totals.Seconds = e.Now().Sub(started).Seconds()
	if out != "" {
		return plan.Create(ctx, out, h, dead)
	}
	return plan.CreateTemp(ctx, "", h, dead)
}

// head is what the run knows before candidates are judged.
func (run *deltaRun) head(tool string, now time.Time) filelist.Head {
	version := run.table.Version()
	h := filelist.Head{
		PlanID: plan.NewID(now), Tool: tool, Table: run.root.String(), Given: run.given, TableID: run.meta.ID, Format: "delta",
		Version: &version, Created: now.UTC(), Cutoff: run.cutoff.UTC(), Mode: run.mode, ModeWhy: run.why,
		Source: run.req.Inventory.Source, Where: run.req.Where, State: run.table.State(),
	}
	if run.where != nil && run.req.TimeZone != nil {
		h.TimeZone = run.req.TimeZone.String()
	}
	if run.where == nil && run.req.Inventory.Source == "" {
		if r, err := run.table.LiteRange(run.liteRequest()); err == nil || run.mode == "full" {
			h.Watermark = r.Next
		}
	}
	return h
}

// lite gathers the verdicts that the log alone gives, sorted.
func (run *deltaRun) lite(ctx context.Context) (iter.Seq2[lake.Verdict, error], filelist.Totals, error) {
	t := filelist.Totals{ByReason: map[string]filelist.Count{}}
	sorter := filelist.NewSorter("", run.req.Tuning.Memory/4)
	var match func(lake.Key) antijoin.Match
	if run.where != nil {
		match = run.where.match(run.protected)
	}
	for v, err := range run.table.Lite(ctx, run.liteRequest(), run.protected) {
		if err != nil {
			return nil, t, errors.Join(err, sorter.Close())
		}
		t.Candidates++
		if match != nil {
			switch match(v.Key) {
			case antijoin.Unknown:
				t.KeptUnknown++
				continue
			case antijoin.False:
				t.Unmatched++
				continue
			}
		}
		t.Dead++
		count := t.ByReason[string(v.Reason)]
		count.Objects++
		if v.Size > 0 {
			t.DeadBytes += v.Size
			count.Bytes += v.Size
		}
		t.ByReason[string(v.Reason)] = count
		if err := sorter.Add(v); err != nil {
			return nil, t, errors.Join(err, sorter.Close())
		}
	}
	return sorter.Sorted(), t, nil
}

// detect tells the format of the table at p.
func detect(ctx context.Context, p *place, format string) (string, error) {
	isDelta, err := delta.Detect(ctx, p.reader)
	if err != nil {
		return "", err
	}
	isHudi, err := detectHudi(ctx, p)
	if err != nil {
		return "", err
	}
	switch {
	case format == "delta" && isDelta, format == "hudi" && isHudi:
		return format, nil
	case format != "" && format != "delta" && format != "hudi":
		return "", invalid(p.given, "unknown format "+format, "Write --format delta or --format hudi.")
	case format != "":
		return "", notTable(p, "no "+format+" table there")
	case isDelta && isHudi:
		return "", invalid(p.given, "both a Delta log and a Hudi timeline lie there", "Say which one with --format delta or --format hudi.")
	case isDelta:
		return "delta", nil
	case isHudi:
		return "hudi", nil
	}
	return "", notTable(p, "neither a Delta log nor a Hudi timeline there")
}

func notTable(p *place, what string) error {
	return &lake.Error{Op: "open table", Table: p.root.String(), Kind: lake.NotTable, Err: errors.New(what),
		Hint: "Name the folder that holds _delta_log or .hoodie, not one of its partitions."}
}
