package inventory

import (
	"context"
	"fmt"
	"slices"

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
	if slices.Contains(t.Info().Features, "deletionVectors") { // inline ones don't show in LiveFiles
		return s.unsupported("a Delta table that may have deletion vectors", "Write the list to a table without delta.enableDeletionVectors, or as Parquet files.")
	}
	for f, err := range t.LiveFiles(ctx) {
		switch {
		case err != nil:
			return err
		case f.Key == "":
			return s.unsupported(fmt.Sprintf("a Delta table with a file outside its root, %s", f.URI), "Write the list to a table of its own, no shallow clone.")
		}
		s.parts = append(s.parts, part{r: r, name: string(f.Key), place: root.Join(f.Key), size: f.Size})
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
