package sweep

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
)

// detectHudi reports whether a Hudi table's root is at p.
func detectHudi(ctx context.Context, p *place) (bool, error) {
	_, err := p.reader.Stat(ctx, ".hoodie/hoodie.properties")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (e *Engine) planHudi(ctx context.Context, p *place, req PlanRequest, out string) (*plan.Plan, error) {
	return nil, unsupportedHudi(p)
}

func unsupportedHudi(p *place) error {
	return &lake.Error{Op: "open table", Table: p.root.String(), Kind: lake.Unsupported,
		Err: errors.New("this build doesn't handle Hudi tables"), Hint: "Use Hudi's own cleaner."}
}
