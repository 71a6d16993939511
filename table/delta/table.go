package delta

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/meta"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// Options tunes Open. The zero value is valid.
type Options struct {
	Now     func() time.Time // the time of the run, the earlier of our clock and the store's; nil: time.Now
	Aliases []lake.Root      // other names of the same root, such as the target of a symlink
	// Inside returns the keys of the table's own objects that an absolute path names which by its text leads elsewhere; none if it does. nil: text decides.
	Inside func(path string) []lake.Key
	// Linked returns the folder that a symlink at or above the folder dir, below the root, leads to inside the table; ok is false without one. nil: there are none.
	Linked  func(dir lake.Key) (real lake.Key, ok bool)
	Workers int // files of the log read at once; 0 chooses for the store
	// Brief makes Open read only the beginning of long commits, where writers put protocol and metadata. What the table says of itself is
	// then believed for now, and holds once Protect, which reads everything, has succeeded. Only for what calls Protect.
	Brief    bool
	Listing  *Listing // of the log, from Detect just now, and given to one Open only; nil: Open lists the log
	Observer lake.Observer
}

// Table is a Delta table at the version it was opened at. Safe for concurrent
// use.
type Table struct {
	r    store.Reader
	root lake.Root
	o    Options

	log *txlog.Log

	mu   sync.Mutex
	live [2]int64 // files and bytes, -1 until counted
}

// Listing is what Detect saw of a table's log.
type Listing struct{ entries []store.Info }

// Detect lists the log of the table at r. It is nil if there is none: a Delta
// table's root is where a folder _delta_log has anything in it.
func Detect(ctx context.Context, r store.Reader) (*Listing, error) {
	entries, err := logdir.ListDir(ctx, r, meta.LogDir+"/", "")
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return &Listing{entries}, nil
}

// Open lists the log of the table at r, finds its newest version, reads
// protocol and metadata and gates on them.
//
// Errors: NotTable without a log; Damaged if no version can be proved whole;
// Unsupported for a protocol or feature that lakesweep must not touch.
// Source: spec/delta-vacuum.md 1.2, 2, 11.
func Open(ctx context.Context, r store.Reader, root lake.Root, o Options) (*Table, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Table{r: r, root: root, o: o, live: [2]int64{-1, -1}}
	known := txlog.Options{Workers: o.Workers, Brief: o.Brief, Observer: o.Observer}
	if o.Listing != nil {
		known.Listed = o.Listing.entries
	}
	var err error
	if t.log, err = txlog.Open(ctx, r, known); err != nil {
		return nil, t.wrap("open delta table", err)
	}
	return t, nil
}

// Brief reports whether Open has read only the beginning of some commits.
func (t *Table) Brief() bool { return t.log.Brief() }

// wrap names the table in an error, once.
func (t *Table) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	e := &lake.Error{}
	if errors.As(err, &e) && e.Table != "" {
		return err
	}
	return &lake.Error{Op: op, Table: t.root.String(), Kind: lake.KindOf(err), Code: e.Code, Err: err}
}

// Version returns the version that the table was opened at.
func (t *Table) Version() int64 { return t.log.Segment.Version }

// Metadata returns the metadata of the version opened.
func (t *Table) Metadata() meta.Metadata { return t.log.Metadata }

// Rules returns the hidden rules of the table.
func (t *Table) Rules() meta.Rules { return t.log.Metadata.Rules(t.log.Protocol) }

// Retention returns delta.deletedFileRetentionDuration, a week by default.
//
// Errors: Damaged for a value outside the interval grammar or below zero.
// Source: spec/delta-vacuum.md 3.4.
func (t *Table) Retention() (time.Duration, error) {
	d, err := t.log.Metadata.Retention()
	return d, t.wrap("read retention", err)
}

// Warnings says what was odd in the log and yet harmless, such as a corrupt
// checkpoint that an older one replaced. It grows with Protect.
func (t *Table) Warnings() []string {
	return t.log.Warned()
}

// Info describes the table. ActiveFiles and ActiveBytes are -1 until Protect or
// CountLive have run, unless the log's checksum file has them.
func (t *Table) Info() table.Info {
	version := t.log.Segment.Version
	i := table.Info{
		Table: t.root.String(), Format: "delta", TableID: t.log.Metadata.ID, Name: t.log.Metadata.Name, Version: &version,
		Protocol: t.log.Protocol.Versions(), Features: t.log.Protocol.Features(), PartitionColumns: []string{},
		Properties: t.log.Metadata.Configuration, RetentionSource: meta.RetentionKey,
	}
	if c := t.log.Segment.Commit(version); c != nil {
		i.Committed = t.log.CommitTimeKnown(*c).UTC()
	}
	for _, c := range t.log.Metadata.PartitionColumns {
		i.PartitionColumns = append(i.PartitionColumns, c.Name)
	}
	if d, err := t.log.Metadata.Retention(); err != nil {
		i.Retention = "unreadable: " + t.log.Metadata.Configuration[meta.RetentionKey]
	} else {
		i.Retention = d.String()
	}
	if _, ok := t.log.Metadata.Configuration[meta.RetentionKey]; !ok {
		i.RetentionSource = "default"
	}
	t.mu.Lock()
	i.ActiveFiles, i.ActiveBytes = t.live[0], t.live[1]
	t.mu.Unlock()
	if i.ActiveFiles < 0 {
		i.ActiveFiles, i.ActiveBytes = t.log.Counts()
	}
	return i
}

// Keys of State.
const (
	stateVersion  = "version"
	stateTable    = "table_id"
	stateMetadata = "metadata"
	stateProtocol = "protocol"
	stateCommit   = "commit" // size and time of the newest commit's file
)

// State is what a plan's head keeps of the table for Guardian.
func (t *Table) State() map[string]string {
	return map[string]string{
		stateVersion: strconv.FormatInt(t.log.Segment.Version, 10), stateTable: t.log.Metadata.ID, stateMetadata: t.log.Metadata.Fingerprint,
		stateProtocol: t.log.Protocol.Fingerprint(), stateCommit: t.log.Segment.Commit(t.log.Segment.Version).Fingerprint(),
	}
}
