package txlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Options tunes Open. The zero value is valid.
type Options struct {
	Workers  int          // files of the log read at once; 0 chooses for the store
	Brief    bool         // read only the beginning of long commits, where writers put protocol and metadata
	Listed   []store.Info // what logdir.ListDir gave of the log just now; nil: Open lists it
	Observer lake.Observer
}

// Log is a log at the version it was opened at. Safe for concurrent use.
type Log struct {
	Dir      *logdir.Dir
	Reader   *checkpoint.Reader
	observer lake.Observer

	Segment  *logdir.Segment // but for its checkpoints, which Checkpoints returns
	Protocol meta.Protocol
	Metadata meta.Metadata
	checksum *checksum // of the version opened, nil if there is none

	protocolVersion, metadataVersion int64 // where protocol and meta stand

	mu       sync.Mutex
	warnings []string
	ict      map[int64]time.Time // in-commit timestamps read so far
}

// Open lists the log of the table at r, finds its newest version, reads
// protocol and metadata and gates on them.
//
// Errors: NotTable without a log; Damaged if no version can be proved whole;
// Unsupported for a protocol or feature that lakesweep must not touch.
// Source: spec/delta-vacuum.md 1.2, 2, 11.
func Open(ctx context.Context, r store.Reader, o Options) (*Log, error) {
	dir := logdir.New(r, o.Workers, o.Brief)
	l := &Log{Dir: dir, Reader: checkpoint.NewReader(dir), observer: o.Observer, ict: map[int64]time.Time{}}
	var err error
	if l.Segment, err = dir.Load(ctx, o.Listed); err != nil {
		return nil, err
	}
	err = l.judge(ctx)
	if k := lake.KindOf(err); l.Brief() && (k == lake.Damaged || k == lake.Unsupported) {
		dir.Whole() // the rest of the long commits may say otherwise
		err = l.judge(ctx)
	}
	return l, err
}

// Brief reports whether only the beginning of some commits has been read.
func (l *Log) Brief() bool { return len(l.Dir.BegunCommits()) > 0 }

// judge reads protocol and metadata and gates on them.
func (l *Log) judge(ctx context.Context) error {
	if err := l.readHead(ctx); err != nil {
		return err
	}
	if err := l.Protocol.Gate(); err != nil {
		return err
	}
	l.Metadata.Clustered = slices.Contains(l.Protocol.Features(), "clustering")
	if err := l.Metadata.Coordinated(); err != nil {
		return err
	}
	if err := l.Dir.CheckUnfinished(ctx, l.Segment); err != nil {
		return err
	}
	if newest := l.Segment.Commit(l.Segment.Version); newest != nil {
		if _, err := l.CommitTime(ctx, *newest); err != nil { // Info and Recorder need it
			return err
		}
	}
	return l.readChecksum(ctx)
}

// warn keeps a warning, once.
func (l *Log) warn(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := fmt.Sprintf(format, args...); !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

// Warned returns what was odd in the log and yet harmless. It grows while the log is read.
func (l *Log) Warned() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.warnings)
}

// Counts returns the live files and bytes that the checksum file tells, -1 for unknown.
func (l *Log) Counts() (files, bytes int64) {
	if l.checksum == nil {
		return -1, -1
	}
	return cmp.Or(l.checksum.numFiles(), -1), cmp.Or(l.checksum.bytes(), -1)
}
