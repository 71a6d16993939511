package sweep

import (
	"context"
	"iter"

	"github.com/lakesweep/lakesweep/table"
)

// Usage counts files and bytes by partition: live in the newest version, held
// for history, dead, and unknown (too young to tell). Live files count in the
// partition that the log says, others in the one their directories say; a nil
// Partition gathers what neither tells. Rows come in the order of their values.
func (e *Engine) Usage(ctx context.Context, req PlanRequest) iter.Seq2[table.Usage, error] {
	return func(yield func(table.Usage, error) bool) {
		rows, err := e.usage(ctx, req)
		if err != nil {
			yield(table.Usage{}, err)
			return
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (e *Engine) usage(ctx context.Context, req PlanRequest) (rows []table.Usage, err error) {
	if run, err := e.hudiTable(ctx, req); run != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return run.Usage(ctx)
	}
	run, err := e.openRun(ctx, req)
	if err != nil {
		return nil, err
	}
	return run.Usage(ctx)
}
