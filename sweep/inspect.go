package sweep

import (
	"context"

	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/sweep/internal/vacuum"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Inspect describes a table at its newest version.
func (e *Engine) Inspect(ctx context.Context, req PlanRequest) (table.Info, error) {
	if run, err := e.hudiTable(ctx, req); run != nil || err != nil {
		if err != nil {
			return table.Info{}, err
		}
		return run.Inspect(ctx)
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
func (e *Engine) openTable(ctx context.Context, req PlanRequest) (*place.Place, *delta.Table, error) {
	p, err := e.openDeltaOnly(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.Delta(ctx, req.Tuning.Workers, false, e.Observe)
	return p, t, err
}

// openRun opens a Delta table with the cutoff and the predicate of a request.
func (e *Engine) openRun(ctx context.Context, req PlanRequest) (*vacuum.Run, error) {
	p, err := e.openDeltaOnly(ctx, req)
	if err != nil {
		return nil, err
	}
	return e.vacuum().Open(ctx, p, req.vacuum(e))
}

// openDeltaOnly opens the place of a Delta table, for what can't be asked of others.
func (e *Engine) openDeltaOnly(ctx context.Context, req PlanRequest) (*place.Place, error) {
	p, found, err := e.places().OpenAs(ctx, req.Table, req.Format)
	if err == nil && found == "hudi" {
		err = p.Invalid("a Hudi table, where a Delta table is wanted", "Name a Delta table.")
	}
	return p, err
}
