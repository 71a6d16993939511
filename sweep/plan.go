package sweep

import (
	"context"
	"errors"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep/internal/vacuum"
)

// Plan works out what is dead in one table. It reads only. A plan that guards
// refuse is returned all the same, with the refusals in its head; it can be
// shown and not applied. With out the plan is written to that file, else it
// holds its rows until its Close.
//
// Errors: the table's and the stores'; Invalid for a request that can't be
// met. Where the state of the table can't be known there is no plan at all.
func (e *Engine) Plan(ctx context.Context, req PlanRequest, out string) (*plan.Plan, error) {
	plans, err := e.PlanMany(ctx, []PlanRequest{req}, []string{out})
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// PlanMany plans several tables with one pass over their common inventory, or
// one after the other without one. outs holds a file or "" for each.
//
// Errors: the first; then no plan is returned, and files already written stay.
func (e *Engine) PlanMany(ctx context.Context, reqs []PlanRequest, outs []string) (plans []*plan.Plan, err error) {
	defer func() {
		if err != nil {
			for _, p := range plans {
				err = errors.Join(err, p.Close())
			}
			plans = nil
		}
	}()
	for _, out := range outs {
		if out == "" {
			continue
		}
		if err := e.places().Outside(ctx, "--out", out); err != nil {
			return nil, err
		}
	}
	for _, req := range reqs {
		if now := req.AtOnce; now != nil && now.Journal == "" && now.Quarantine == "" {
			// A run whose journal could have no place is refused before anything is planned.
			if err := e.journals().Ready(req.Table); err != nil {
				return nil, err
			}
		}
	}
	if len(reqs) > 0 && reqs[0].Inventory.Given() {
		return e.planListed(ctx, reqs, outs)
	}
	for i, req := range reqs {
		p, err := e.planOne(ctx, req, outs[i])
		if err != nil {
			return plans, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (e *Engine) planOne(ctx context.Context, req PlanRequest, out string) (made *plan.Plan, err error) {
	p, format, err := e.places().OpenAs(ctx, req.Table, req.Format)
	if err != nil {
		return nil, err
	}
	if err := req.fits(format); err != nil {
		return nil, err
	}
	if format == "hudi" {
		if err := req.fitsHudi(p); err != nil {
			return nil, err
		}
		return e.clean().Plan(ctx, p, req.clean(), out)
	}
	run, err := e.vacuum().Prepare(ctx, p, req.vacuum(e))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return run.Plan(ctx, out)
}

// planListed plans Delta tables with one pass over their common inventory.
func (e *Engine) planListed(ctx context.Context, reqs []PlanRequest, outs []string) (plans []*plan.Plan, err error) {
	var runs []*vacuum.Run
	defer func() {
		for _, run := range runs {
			err = errors.Join(err, run.Close())
		}
	}()
	for _, req := range reqs {
		run, err := e.prepare(ctx, req)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return vacuum.PlanListed(ctx, runs, outs)
}

// guards says what the guards of a plan allow.
func (r PlanRequest) guards() guard.Options {
	return guard.Options{
		RetainBelow: r.Unsafe.RetainBelow, MostlyDead: r.Unsafe.MostlyDead, MissingLive: r.Unsafe.MissingLive,
		MaxInventoryAge: r.Inventory.MaxAge,
	}
}

// prepare opens a Delta table and replays its log.
func (e *Engine) prepare(ctx context.Context, req PlanRequest) (*vacuum.Run, error) {
	p, err := e.openDeltaOnly(ctx, req)
	if err == nil {
		err = req.fits("delta")
	}
	if err != nil {
		return nil, err
	}
	return e.vacuum().Prepare(ctx, p, req.vacuum(e))
}
