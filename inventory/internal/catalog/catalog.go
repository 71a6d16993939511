package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/decode"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Opener opens lists that say themselves which files hold their rows.
type Opener struct {
	Source  string // as the user named it, for messages
	Stores  store.Opener
	Now     func() time.Time
	Workers int
	Form    decode.Form // what the user says
}

// List is what a catalog says of a list.
type List struct {
	Kind      string      // "s3-inventory", "gcs-insights", "azure-inventory", "delta", "iceberg"
	Parts     []part.Part // that hold the rows
	Form      decode.Form
	Encoding  value.Encoding // as the user hears of it
	Taken     time.Time      // when the scan began; zero if nothing says
	TakenFrom string         // "manifest", "list"; may be empty
	Rows      int64          // as the list says itself; -1 if it doesn't
	Notes     []string       // what a user should know
}

// Level returns the entries of one folder.
func Level(ctx context.Context, r store.Reader, prefix string) (out []store.Info, err error) {
	for e, err := range store.Folder(ctx, r, prefix) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// IsIceberg reports whether a folder holds the metadata of an Iceberg table.
func IsIceberg(ctx context.Context, r store.Reader) (bool, error) {
	entries, err := Level(ctx, r, "metadata/")
	return slices.ContainsFunc(entries, func(e store.Info) bool { return lake.IcebergMetadata(e.Name) }), err
}

// Unsupported is the error of a list that lakesweep can't read.
func Unsupported(source, what, hint string) error {
	return &lake.Error{Op: "open inventory", Table: source, Kind: lake.Unsupported, Err: errors.New(what), Hint: hint}
}

// Invalid is the error of a list that isn't there, or isn't what it should be.
func Invalid(source string, err error, hint string) error {
	return &lake.Error{Op: "open inventory", Table: source, Kind: lake.Invalid, Err: err, Hint: hint}
}
