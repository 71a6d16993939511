package blobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// Request says what to do about blobs. Its fields are those of
// sweep.BlobRequest, which explains them.
type Request struct {
	Mode      string
	Columns   []string
	Roots     []lake.Root
	Grace     *time.Duration
	MinAge    *time.Duration
	Also      []string
	Spelling  string
	ScanFiles int64
	ScanBytes int64
	Wait      bool
}

// SpelledExact is the Request.Spelling of a user who vouches that every
// reference to an object is spelled as the one that let it go.
const SpelledExact = "exact"

// Host is what the engine lends.
type Host struct {
	Stores   store.Opener
	Now      func() time.Time // our clock
	Observe  lake.Observer
	Log      *slog.Logger
	StateDir string // where ledgers lie; "" for none
	Tool     string
	Sleep    func(ctx context.Context, d time.Duration) error
	// Find returns the root of a Hudi table that is named as on the command line, and its other names.
	Find func(ctx context.Context, name string) ([]lake.Root, error)
	// Open opens a table that shares blobs with the one at hand, in the same words; its Request and Maps are left to the caller.
	Open func(ctx context.Context, name string) (*Table, error)
}

// Table is an opened Hudi table with what is asked of its blobs.
type Table struct {
	*Host
	Given   string // as the command line named it
	Root    lake.Root
	Aliases []lake.Root
	Reader  store.Reader
	Began   time.Time        // of the run: the earlier of our clock and the store's
	Clock   func() time.Time // the same, as it goes on
	Hudi    *hudi.Table
	Config  retain.BlobConfig
	Request Request
	Maps    []lake.BlobMap
	Memory  int64
	Workers int
}

// names reads how blobs of the table are spelled. others are all names of the
// tables that share them.
func (t *Table) names(others []lake.Root) (*lake.BlobNames, error) {
	return lake.NewBlobNames(lake.BlobOptions{Table: t.Root, Aliases: t.Aliases, Others: others, Roots: t.Request.Roots, Maps: t.Maps})
}

// others finds the tables that share blobs: their roots, and all their names.
//
// Errors: Invalid for a place that is no Hudi table; those of the store.
func (t *Table) others(ctx context.Context) (also []string, names []lake.Root, err error) {
	for _, name := range t.Request.Also {
		found, err := t.Find(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		also, names = append(also, found[0].String()), append(names, found...)
	}
	return also, names, nil
}

// judgeOptions are those of a Judge of the table, with its ledger.
func (t *Table) judgeOptions(names *lake.BlobNames) blob.Options {
	o := t.Hudi.BlobOptions()
	o.Names, o.Workers, o.Observe = names, t.Config.Parallelism, t.Observe
	o.MaxFiles, o.MaxBytes = t.Request.ScanFiles, t.Request.ScanBytes
	o.Exact = t.Request.Spelling == SpelledExact
	if t.Workers > 0 {
		o.Workers = t.Workers
	}
	if t.StateDir != "" {
		o.Ledger = blob.OpenLedger(t.StateDir, t.Hudi.ID(), t.Root)
	}
	return o
}

func invalid(table, what, hint string) error {
	return &lake.Error{Op: "plan", Table: table, Kind: lake.Invalid, Err: errors.New(what), Hint: hint}
}
