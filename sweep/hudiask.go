package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table"
)

// hudiTable opens the table of a request if it is a Hudi table, else returns nil.
func (e *Engine) hudiTable(ctx context.Context, req PlanRequest) (*hudiRun, error) {
	p, err := e.places().Open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	format, err := p.Detect(ctx, req.Format)
	if err != nil || format != "hudi" {
		return nil, err
	}
	return e.openHudi(ctx, p, req)
}

func (run *hudiRun) inspect(ctx context.Context) (table.Info, error) {
	info := run.table.Info()
	err := run.table.Usage(ctx, run.config, func(u table.Usage) error {
		info.ActiveFiles += u.Live[0]
		info.ActiveBytes += u.Live[1]
		return nil
	})
	return info, err
}

func (run *hudiRun) explain(ctx context.Context, e *Engine, paths []string) ([]table.Explanation, error) {
	out := make([]table.Explanation, 0, len(paths))
	for _, path := range paths {
		keys := run.Root.Named(path, run.Aliases...)
		if len(keys) == 0 && strings.Contains(path, "/") {
			x, err := run.blobs(e).Explain(ctx, path)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
			continue
		}
		if len(keys) == 0 {
			return nil, run.Invalid(fmt.Sprintf("%q lies outside the table", path), "Name a path below the table's root.")
		}
		var x table.Explanation
		for _, k := range keys { // the first reading that exists counts
			var err error
			if x, err = run.table.Explain(ctx, k, run.config); err != nil {
				return nil, err
			}
			if x.Verdict != "absent" {
				break
			}
		}
		out = append(out, x)
	}
	return out, nil
}

func (run *hudiRun) usage(ctx context.Context) ([]table.Usage, error) {
	var rows []table.Usage
	err := run.table.Usage(ctx, run.config, func(u table.Usage) error {
		rows = append(rows, u)
		return nil
	})
	slices.SortFunc(rows, func(a, b table.Usage) int { return strings.Compare(fmt.Sprint(a.Partition), fmt.Sprint(b.Partition)) })
	return rows, err
}
