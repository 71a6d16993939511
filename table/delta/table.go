package delta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
)

// LogDir is the folder of the log, below the root.
const LogDir = "_delta_log"

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
	Observer lake.Observer
}

// Table is a Delta table at the version it was opened at. Safe for concurrent
// use.
type Table struct {
	r    store.Reader
	root lake.Root
	o    Options

	seg        *segment
	unratified []string // folders of staged commits
	hasTmp     bool
	bodies     bodies
	footers    parquetFiles
	protocol   protocol
	meta       Metadata
	begun      map[int64]bool // commits of which only the beginning was read
	checksum   *checksum      // of the version opened, nil if there is none

	protocolVersion, metadataVersion int64 // where protocol and meta stand

	mu       sync.Mutex
	warnings []string
	ict      map[int64]time.Time // in-commit timestamps read so far
	live     [2]int64            // files and bytes, -1 until counted
}

// Detect reports whether a Delta table's root is at r: a folder _delta_log with
// anything in it.
func Detect(ctx context.Context, r store.Reader) (bool, error) {
	page, err := r.List(ctx, store.PageRequest{Prefix: LogDir + "/", Dirs: true, Limit: 1})
	if err != nil {
		if entries, missing := listDir(ctx, r, LogDir+"/", ""); missing == nil {
			return len(entries) > 0, nil
		}
		return false, &lake.Error{Op: "look for a delta log", Kind: kindOf(err), Err: err}
	}
	return len(page.Entries) > 0, nil
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
	t := &Table{r: r, root: root, o: o, ict: map[int64]time.Time{}, live: [2]int64{-1, -1},
		begun: map[int64]bool{}, bodies: bodies{data: map[string][]byte{}, left: cacheSize}, footers: parquetFiles{files: map[string]*parquetFile{}}}
	if err := t.open(ctx); err != nil {
		return nil, t.wrap("open delta table", err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context) (err error) {
	if t.seg, err = t.loadSegment(ctx); err != nil {
		return err
	}
	err = t.judge(ctx)
	if k := lake.KindOf(err); t.Brief() && (k == lake.Damaged || k == lake.Unsupported) {
		t.o.Brief = false // the rest of the long commits may say otherwise
		clear(t.begun)
		err = t.judge(ctx)
	}
	return err
}

// Brief reports whether Open has read only the beginning of some commits.
func (t *Table) Brief() bool { return len(t.begun) > 0 }

// judge reads protocol and metadata and gates on them.
func (t *Table) judge(ctx context.Context) error {
	if err := t.readHead(ctx); err != nil {
		return err
	}
	if err := t.protocol.gate(); err != nil {
		return err
	}
	t.meta.Clustered = slices.Contains(t.protocol.features(), "clustering")
	if err := t.meta.coordinated(); err != nil {
		return err
	}
	if err := t.checkUnfinished(ctx); err != nil {
		return err
	}
	if newest := t.seg.commit(t.seg.version); newest != nil {
		if _, err := t.commitTime(ctx, *newest); err != nil { // Info and Recorder need it
			return err
		}
	}
	return t.readChecksum(ctx)
}

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

func (t *Table) warn(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := fmt.Sprintf(format, args...); !slices.Contains(t.warnings, w) {
		t.warnings = append(t.warnings, w)
	}
}

// workers is how many files of the log are read at once.
func (t *Table) workers() int { return workersFor(t.r, t.o.Workers) }

func workersFor(r store.Reader, wished int) int {
	if wished > 0 {
		return wished
	}
	if tr := r.Traits(); tr.Directories && tr.NamesFirst { // a local disk: the processors are the limit
		return max(runtime.GOMAXPROCS(0), 2)
	}
	return 32
}

// Version returns the version that the table was opened at.
func (t *Table) Version() int64 { return t.seg.version }

// Metadata returns the metadata of the version opened.
func (t *Table) Metadata() Metadata { return t.meta }

// Rules returns the hidden rules of the table.
func (t *Table) Rules() Rules { return t.meta.rules(t.protocol) }

// Retention returns delta.deletedFileRetentionDuration, a week by default.
//
// Errors: Damaged for a value outside the interval grammar or below zero.
// Source: spec/delta-vacuum.md 3.4.
func (t *Table) Retention() (time.Duration, error) {
	d, err := t.meta.retention()
	return d, t.wrap("read retention", err)
}

// Warnings says what was odd in the log and yet harmless, such as a corrupt
// checkpoint that an older one replaced. It grows with Protect.
func (t *Table) Warnings() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.warnings)
}

// Info describes the table. ActiveFiles and ActiveBytes are -1 until Protect or
// CountLive have run, unless the log's checksum file has them.
func (t *Table) Info() table.Info {
	version := t.seg.version
	i := table.Info{
		Table: t.root.String(), Format: "delta", TableID: t.meta.ID, Name: t.meta.Name, Version: &version,
		Protocol: t.protocol.versions(), Features: t.protocol.features(), PartitionColumns: []string{},
		Properties: t.meta.Configuration, RetentionSource: retentionKey,
	}
	if c := t.seg.commit(version); c != nil {
		i.Committed = t.commitTimeKnown(*c).UTC()
	}
	for _, c := range t.meta.PartitionColumns {
		i.PartitionColumns = append(i.PartitionColumns, c.Name)
	}
	if d, err := t.meta.retention(); err != nil {
		i.Retention = "unreadable: " + t.meta.Configuration[retentionKey]
	} else {
		i.Retention = d.String()
	}
	if _, ok := t.meta.Configuration[retentionKey]; !ok {
		i.RetentionSource = "default"
	}
	t.mu.Lock()
	i.ActiveFiles, i.ActiveBytes = t.live[0], t.live[1]
	t.mu.Unlock()
	if i.ActiveFiles < 0 && t.checksum != nil {
		i.ActiveFiles, i.ActiveBytes = cmp.Or(t.checksum.numFiles(), -1), cmp.Or(t.checksum.bytes(), -1)
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
		stateVersion: strconv.FormatInt(t.seg.version, 10), stateTable: t.meta.ID, stateMetadata: t.meta.fingerprint,
		stateProtocol: t.protocol.fingerprint(), stateCommit: t.seg.commit(t.seg.version).fingerprint(),
	}
}

// fingerprint tells a commit's file from another one of the same version. A
// nil one has none.
func (f *logFile) fingerprint() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%d@%d", f.size, f.modified.UnixMilli())
}

func (p protocol) fingerprint() string {
	return fmt.Sprintf("%d,%d,%q", p.Reader, p.Writer, p.features())
}
