package inventory

import (
	"context"
	"io"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/output"
	"github.com/lakesweep/lakesweep/inventory/internal/resolve"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
)

// Row is one object that a list names: its Place and Name, Kind, Size (bytes,
// -1 if unknown), Modified (UTC, zero if unknown) and ETag.
type Row = rowset.Row

// Counts says what became of the rows of a list.
type Counts = rowset.Counts

// Encoding says how a list spells names.
type Encoding = value.Encoding

// The encodings.
const (
	Raw     = value.Raw     // as the store spells them
	Percent = value.Percent // each %XX is a byte
	Form    = value.Form    // as Percent, and '+' is a space: S3 Inventory's CSV
)

// ColumnWords returns the words that Options.Columns maps to columns, and the
// two that say how names are spelled.
func ColumnWords() []string { return columns.Words() }

// Map says that names beginning with From are reached at To. Both are prefixes
// of whole path components, or a bare scheme such as "s3a://".
type Map = resolve.Map

// Resolver says which rows lie below which of some roots. Safe for concurrent use.
type Resolver = resolve.Resolver

// Resolved says what became of the rows that a Resolver was given.
type Resolved = resolve.Resolved

// NewResolver returns a Resolver for roots.
//
// Errors: Invalid for a Map that is empty or maps a scheme to a path.
func NewResolver(roots []lake.Root, maps []Map) (*Resolver, error) {
	return resolve.NewResolver(roots, maps)
}

// Made says what a list that was written holds.
type Made = output.Made

// Make lists a place and writes its files to out, in the Parquet form that
// plans have, with the start of the listing in the footer. Hidden names and
// logs are files like any other.
//
// Errors: those of the store and of out. After an error out holds no list.
func Make(ctx context.Context, r store.Reader, at lake.Root, tool string, now func() time.Time, walk listing.Options, out io.Writer) (Made, error) {
	return output.Make(ctx, r, at, tool, now, walk, out)
}
