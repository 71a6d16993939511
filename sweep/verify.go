package sweep

import (
	"context"
	"iter"

	"github.com/lakesweep/lakesweep/sweep/internal/verify"
	"github.com/lakesweep/lakesweep/table"
)

// Verify compares the live files of a table with storage and yields what
// doesn't fit. It changes nothing. An error is the last element.
//
// Where listings give sizes the table is listed once and only what doesn't
// fit is stat'ed; elsewhere each live file is.
func (e *Engine) Verify(ctx context.Context, req PlanRequest) iter.Seq2[table.Finding, error] {
	return func(yield func(table.Finding, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		findings, done := make(chan table.Finding), make(chan error, 1)
		go func() {
			defer close(findings)
			done <- e.verify(ctx, req, func(f table.Finding) error {
				select {
				case findings <- f:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		}()
		stopped := false
		for f := range findings {
			if !stopped && !yield(f, nil) {
				stopped = true
				cancel()
			}
		}
		if err := <-done; err != nil && !stopped {
			yield(table.Finding{}, err)
		}
	}
}

func (e *Engine) verify(ctx context.Context, req PlanRequest, emit func(table.Finding) error) error {
	if run, err := e.hudiTable(ctx, req); run != nil || err != nil {
		if err != nil {
			return err
		}
		return run.Verify(ctx, emit)
	}
	p, t, err := e.openTable(ctx, req)
	if err != nil {
		return err
	}
	return verify.Delta(ctx, p, t, verify.Options{Stores: e.Stores, Workers: req.Tuning.Workers, Observe: e.Observe}, emit)
}
