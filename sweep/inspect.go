package sweep

import (
	"context"

	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Inspect describes a table at its newest version.
func (e *Engine) Inspect(ctx context.Context, req PlanRequest) (table.Info, error) {
	if run, err := e.hudiTable(ctx, req); run != nil || err != nil {
		if err != nil {
			return table.Info{}, err
		}
		return run.inspect(ctx)
	}
	_, t, err := e.openTable(ctx, req)
	if err != nil {
		return table.Info{}, err
	}
	if err := t.CountLive(ctx); err != nil {
		return table.Info{}, err
	}
	return t.Info(), nil
}

// openTable opens a Delta table for the questions that read only.
func (e *Engine) openTable(ctx context.Context, req PlanRequest) (*place, *delta.Table, error) {
	p, err := e.open(ctx, req.Table)
	if err != nil {
		return nil, nil, err
	}
	if err := deltaOnly(ctx, p, req.Format); err != nil {
		return nil, nil, err
	}
	t, err := e.deltaTable(ctx, p, req.Tuning)
	return p, t, err
}

// openRun opens a Delta table with the cutoff and the predicate of a request.
func (e *Engine) openRun(ctx context.Context, req PlanRequest) (*deltaRun, error) {
	p, err := e.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if err := deltaOnly(ctx, p, req.Format); err != nil {
		return nil, err
	}
	return e.openDelta(ctx, p, req)
}

// deltaOnly refuses what the questions that read a Delta log can't answer.
func deltaOnly(ctx context.Context, p *place, format string) error {
	found, err := detect(ctx, p, format)
	if err != nil {
		return err
	}
	if found == "hudi" {
		return invalid(p.given, "a Hudi table, where a Delta table is wanted", "Name a Delta table.")
	}
	return nil
}
