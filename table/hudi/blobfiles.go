package hudi

import (
	"context"
	"iter"

	"github.com/lakesweep/lakesweep/table/hudi/blob"
)

// DataFiles yields every base and log file on storage, of committed slices and
// others, in no order: what blobs are judged by. Folders are listed even where
// the metadata table lists files, since it knows nothing of writes in flight.
//
// Errors: those of the store; Damaged, Unsupported, once, as the last element.
func (t *Table) DataFiles(ctx context.Context) iter.Seq2[blob.File, error] {
	return func(func(blob.File, error) bool) {}
}

// BlobColumns returns the columns that refer to external blobs: those that the
// newest schema says and those named in more, empty if there are none. It costs
// one request where the newest commit has a schema.
//
// Errors: Damaged; those of the store.
func (t *Table) BlobColumns(ctx context.Context, more []string) (blob.Columns, error) {
	return nil, nil
}

// BlobOptions returns the options of a Judge of this table, but for Names,
// limits and the ledger.
func (t *Table) BlobOptions(ctx context.Context) (blob.Options, error) {
	return blob.Options{Reader: t.reader}, nil
}
