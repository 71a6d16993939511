package delta

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// logOptions tunes openLog. The zero value is valid.
type logOptions struct {
	workers  int  // files of the log read at once; 0 chooses for the store
	brief    bool // read only the beginning of long commits, where writers put protocol and metadata
	observer lake.Observer
}

// txLog is a log at the version it was opened at. Safe for concurrent use.
type txLog struct {
	dir      *logDir
	reader   *checkpointReader
	observer lake.Observer

	seg      *segment // but for its checkpoints, which checkpoints returns
	protocol protocol
	meta     Metadata
	checksum *checksum // of the version opened, nil if there is none

	protocolVersion, metadataVersion int64 // where protocol and meta stand

	mu       sync.Mutex
	warnings []string
	ict      map[int64]time.Time // in-commit timestamps read so far
}

// openLog lists the log of the table at r, finds its newest version, reads
// protocol and metadata and gates on them.
//
// Errors: NotTable without a log; Damaged if no version can be proved whole;
// Unsupported for a protocol or feature that lakesweep must not touch.
// Source: spec/delta-vacuum.md 1.2, 2, 11.
func openLog(ctx context.Context, r store.Reader, o logOptions) (*txLog, error) {
	dir := newLogDir(r, o.workers, o.brief)
	l := &txLog{dir: dir, reader: newCheckpointReader(dir), observer: o.observer, ict: map[int64]time.Time{}}
	var err error
	if l.seg, err = dir.load(ctx); err != nil {
		return nil, err
	}
	err = l.judge(ctx)
	if k := lake.KindOf(err); l.isBrief() && (k == lake.Damaged || k == lake.Unsupported) {
		dir.whole() // the rest of the long commits may say otherwise
		err = l.judge(ctx)
	}
	return l, err
}

// isBrief reports whether only the beginning of some commits has been read.
func (l *txLog) isBrief() bool { return len(l.dir.begunCommits()) > 0 }

// judge reads protocol and metadata and gates on them.
func (l *txLog) judge(ctx context.Context) error {
	if err := l.readHead(ctx); err != nil {
		return err
	}
	if err := l.protocol.gate(); err != nil {
		return err
	}
	l.meta.Clustered = slices.Contains(l.protocol.features(), "clustering")
	if err := l.meta.coordinated(); err != nil {
		return err
	}
	if err := l.dir.checkUnfinished(ctx, l.seg); err != nil {
		return err
	}
	if newest := l.seg.commit(l.seg.version); newest != nil {
		if _, err := l.commitTime(ctx, *newest); err != nil { // Info and Recorder need it
			return err
		}
	}
	return l.readChecksum(ctx)
}

// warn keeps a warning, once.
func (l *txLog) warn(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := fmt.Sprintf(format, args...); !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

// warned returns what was odd in the log and yet harmless. It grows while the log is read.
func (l *txLog) warned() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.warnings)
}

// counts returns the live files and bytes that the checksum file tells, -1 for unknown.
func (l *txLog) counts() (files, bytes int64) {
	if l.checksum == nil {
		return -1, -1
	}
	return cmp.Or(l.checksum.numFiles(), -1), cmp.Or(l.checksum.bytes(), -1)
}
