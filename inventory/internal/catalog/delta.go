package catalog

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Delta opens a list that is a Delta table: the rows of its live files.
//
// Errors: Unsupported for a table with deletion vectors, whose dead rows would
// count, or with renamed columns; Damaged for a file that isn't there.
func (c *Opener) Delta(ctx context.Context, r store.Reader, root lake.Root) (*List, error) {
	t, err := delta.Open(ctx, r, root, delta.Options{Now: c.Now, Workers: c.Workers})
	if err != nil {
		return nil, err
	}
	if mode := t.Metadata().Configuration["delta.columnMapping.mode"]; mode != "" && mode != "none" {
		return nil, Unsupported(c.Source, "a Delta table with column mapping", "Write the list to a table without delta.columnMapping.mode, or as Parquet files.")
	}
	l := &List{Kind: "delta", Form: c.Form, Rows: -1}
	l.Form.Kind, l.Form.OfStore = "parquet", true
	for f, err := range t.LiveFiles(ctx) {
		switch {
		case err != nil:
			return nil, err
		case f.HasDV:
			return nil, Unsupported(c.Source, "a Delta table with deletion vectors", "Run REORG TABLE … APPLY (PURGE) on the table of the inventory first.")
		case f.Key == "":
			return nil, Unsupported(c.Source, fmt.Sprintf("a Delta table with a file outside its root, %s", f.URI), "Write the list to a table of its own, no shallow clone.")
		}
		p := part.Part{Reader: r, Name: string(f.Key), Place: root.Join(f.Key), Size: f.Size}
		if p.Size < 0 {
			info, err := r.Stat(ctx, p.Name)
			if err != nil {
				return nil, p.Opening(err)
			}
			p.Size = info.Size
		}
		l.Parts = append(l.Parts, p)
	}
	if committed := t.Info().Committed; !committed.IsZero() {
		l.Taken, l.TakenFrom = committed, "list"
	}
	if len(l.Parts) == 0 {
		return l, nil
	}
	if len(t.Metadata().PartitionColumns) > 0 {
		l.Notes = append(l.Notes, "partition columns of the table can't be columns of the list")
	}
	return l, l.Form.Probe(ctx, &l.Parts[0])
}
