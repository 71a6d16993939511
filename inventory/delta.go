package inventory

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
)

// openDelta opens a list that is a Delta table: the rows of its live files.
//
// Errors: Unsupported for a table with deletion vectors, whose dead rows would
// count, or with renamed columns; Damaged for a file that isn't there.
func (s *Source) openDelta(ctx context.Context, r store.Reader, root lake.Root) error {
	t, err := delta.Open(ctx, r, root, delta.Options{Now: s.o.Now, Workers: s.o.Workers})
	if err != nil {
		return err
	}
	if mode := t.Metadata().Configuration["delta.columnMapping.mode"]; mode != "" && mode != "none" {
		return s.unsupported("a Delta table with column mapping", "Write the list to a table without delta.columnMapping.mode, or as Parquet files.")
	}
	for f, err := range t.LiveFiles(ctx) {
		switch {
		case err != nil:
			return err
		case f.HasDV:
			return s.unsupported("a Delta table with deletion vectors", "Run REORG TABLE … APPLY (PURGE) on the table of the inventory first.")
		case f.Key == "":
			return s.unsupported(fmt.Sprintf("a Delta table with a file outside its root, %s", f.URI), "Write the list to a table of its own, no shallow clone.")
		}
		p := part{r: r, name: string(f.Key), place: root.Join(f.Key), size: f.Size}
		if p.size < 0 {
			info, err := r.Stat(ctx, p.name)
			if err != nil {
				return p.opening(err)
			}
			p.size = info.Size
		}
		s.parts = append(s.parts, p)
	}
	s.info.Kind, s.form.kind = "delta", "parquet"
	if committed := t.Info().Committed; !committed.IsZero() {
		s.info.Taken, s.info.TakenFrom = committed, "list"
	}
	if len(s.parts) == 0 {
		return nil
	}
	if len(t.Metadata().PartitionColumns) > 0 {
		s.info.Notes = append(s.info.Notes, "partition columns of the table can't be columns of the list")
	}
	return s.probeParquet(ctx, &s.parts[0])
}
