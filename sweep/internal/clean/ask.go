package clean

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table"
)

// Inspect describes the table.
func (run *Run) Inspect(ctx context.Context) (table.Info, error) {
	info := run.table.Info()
	err := run.table.Usage(ctx, run.config, func(u table.Usage) error {
		info.ActiveFiles += u.Live[0]
		info.ActiveBytes += u.Live[1]
		return nil
	})
	return info, err
}

// Explain says for each path why it is kept or deleted. A path outside the table
// is looked for among the blobs that it refers to.
func (run *Run) Explain(ctx context.Context, paths []string) ([]table.Explanation, error) {
	out := make([]table.Explanation, 0, len(paths))
	for _, path := range paths {
		keys := run.Root.Named(path, run.Aliases...)
		if len(keys) == 0 && strings.Contains(path, "/") {
			x, err := run.Blobs().Explain(ctx, path)
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

// Usage counts files and bytes by partition, in the order of their values.
func (run *Run) Usage(ctx context.Context) ([]table.Usage, error) {
	var rows []table.Usage
	err := run.table.Usage(ctx, run.config, func(u table.Usage) error {
		rows = append(rows, u)
		return nil
	})
	slices.SortFunc(rows, func(a, b table.Usage) int { return strings.Compare(fmt.Sprint(a.Partition), fmt.Sprint(b.Partition)) })
	return rows, err
}

// Verify compares the table with storage, and with blobs in the request the
// blobs that it refers to, and emits what doesn't fit, one at a time.
func (run *Run) Verify(ctx context.Context, emit func(table.Finding) error) error {
	if err := run.table.Verify(ctx, emit); err != nil || run.req.Blobs.Mode == "" {
		return err
	}
	return run.Blobs().Verify(ctx, emit)
}
