package sweep

import (
	"context"

	"github.com/lakesweep/lakesweep/table"
)

// Explain says for each path why it is protected or dead: what the log says of
// it under any spelling, and where the log is silent what its name and its
// storage time say.
func (e *Engine) Explain(ctx context.Context, req PlanRequest, paths []string) ([]table.Explanation, error) {
	if run, err := e.hudiTable(ctx, req); run != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return run.Explain(ctx, paths)
	}
	run, err := e.openRun(ctx, req)
	if err != nil {
		return nil, err
	}
	out := make([]table.Explanation, 0, len(paths))
	for _, path := range paths {
		x, err := run.Explain(ctx, path)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
