package delta

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
)

// LogDir is the folder of the log, below the root.
const LogDir = "_delta_log"

// Options tunes Open. The zero value is valid.
type Options struct {
	Now      func() time.Time // the time of the run, the earlier of our clock and the store's; nil: time.Now
	Aliases  []lake.Root      // other names of the same root, such as the target of a symlink
	Workers  int              // files of the log read at once; 0 chooses for the store
	Observer lake.Observer
}

// Table is a Delta table at the version it was opened at. Safe for concurrent
// use.
type Table struct {
	r    store.Reader
	root lake.Root
	o    Options
}

// Detect reports whether a Delta table's root is at r: a folder _delta_log with
// anything in it.
func Detect(ctx context.Context, r store.Reader) (bool, error) {
	page, err := r.List(ctx, store.PageRequest{Prefix: LogDir + "/", Limit: 1})
	if err != nil {
		return false, err
	}
	return len(page.Entries) > 0, nil
}

// Open lists the log of the table at r, finds its newest version, reads
// protocol and metadata and gates on them.
//
// Errors: NotTable without a log; Damaged if no version can be proved whole;
// Unsupported for a protocol or feature that lakesweep must not touch.
func Open(ctx context.Context, r store.Reader, root lake.Root, o Options) (*Table, error) {
	return nil, &lake.Error{Op: "open delta table", Table: root.String(), Kind: lake.Unsupported}
}

// Version returns the version that the table was opened at.
func (t *Table) Version() int64 { return 0 }

// Info describes the table. ActiveFiles and ActiveBytes are -1 until Protect or
// LiveFiles have run to their end.
func (t *Table) Info() table.Info { return table.Info{} }

// Metadata returns the metadata of the version opened.
func (t *Table) Metadata() Metadata { return Metadata{} }

// Retention returns delta.deletedFileRetentionDuration, a week by default.
//
// Errors: Damaged for a value outside the interval grammar or below zero.
// Source: spec/delta-vacuum.md 3.4.
func (t *Table) Retention() (time.Duration, error) { return 0, nil }

// State is what a plan's head keeps of the table for Guardian.
func (t *Table) State() map[string]string { return nil }

// Warnings says what was odd in the log and yet harmless, such as a corrupt
// checkpoint that an older one replaced.
func (t *Table) Warnings() []string { return nil }

// Metadata is the table's metaData action as lakesweep needs it.
type Metadata struct {
	ID               string
	Name             string
	PartitionColumns []Column
	DataColumns      []string // the other top-level columns, logical names, for messages
	Clustered        bool     // the clustering feature and its domain metadata are there
	Configuration    map[string]string
}

// Column is a partition column.
type Column struct {
	Name     string // logical, as a user writes it
	Physical string // as the keys of partitionValues and directories spell it
	Type     string // the schema's own word: "string", "date", "decimal(10,2)"
}

// Rules returns the hidden rules of the table.
func (t *Table) Rules() Rules { return Rules{} }

// YoungIcebergMetadata reports whether the root's folder "metadata" holds an
// Iceberg metadata file that isn't older than the cutoff: then the folder is
// to be hidden (Rules.HideRootMetadata).
func (t *Table) YoungIcebergMetadata(ctx context.Context, cutoff time.Time) (bool, error) {
	return false, nil
}
