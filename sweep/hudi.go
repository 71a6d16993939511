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
	return nil, &lake.Error{Op: "plan", Table: p.root.String(), Kind: lake.Unsupported,
		Err: errors.New("Hudi tables can't be cleaned by this build"), Hint: "Use Hudi's own cleaner."}
}
