package sweep

import (
	"context"

	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Inspect describes a table at its newest version.
func (e *Engine) Inspect(ctx context.Context, name, format string) (table.Info, error) {
	t, err := e.openTable(ctx, name, format)
	if err != nil {
		return table.Info{}, err
	}
	for _, err := range t.LiveFiles(ctx) {
		if err != nil {
			return table.Info{}, err
		}
	}
	return t.Info(), nil
}

// openTable opens a Delta table by name for the questions that read only.
func (e *Engine) openTable(ctx context.Context, name, format string) (*delta.Table, error) {
	p, err := e.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := deltaOnly(ctx, p, format); err != nil {
		return nil, err
	}
	return e.deltaTable(ctx, p, Tuning{})
}

// deltaOnly refuses what the questions that read a Delta log can't answer.
func deltaOnly(ctx context.Context, p *place, format string) error {
	found, err := detect(ctx, p, format)
	if err != nil {
		return err
	}
	if found == "hudi" {
		return unsupportedHudi(p)
	}
	return nil
}
