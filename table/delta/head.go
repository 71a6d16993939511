package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// commitInfo is what matters of a commitInfo action.
type commitInfo struct {
	ICT       *int64 `json:"inCommitTimestamp"`
	Operation string `json:"operation"`
}

// readHead finds the newest protocol and metaData, and the in-commit
// timestamps of the commits it passes.
func (l *txLog) readHead(ctx context.Context) error {
	base := int64(-1)
	if len(l.seg.checkpoints) > 0 {
		base = l.seg.checkpoints[0].version
	}
	h, err := l.commitHeads(ctx, l.seg.commitsFrom(base+1), l.dir.firstLines)
	if err != nil {
		return err
	}
	if h.protocolVersion < 0 || h.metadataVersion < 0 {
		if err := l.headBelow(ctx, &h, base); err != nil {
			return err
		}
	}
	switch {
	case h.protocolVersion < 0:
		return damaged(LogDir, errors.New("no protocol action anywhere"))
	case h.metadataVersion < 0:
		return damaged(LogDir, errors.New("no metaData action anywhere"))
	}
	l.protocol, l.protocolVersion = h.protocol, h.protocolVersion
	l.meta, l.metadataVersion = h.metadata, h.metadataVersion
	return l.readTimes(ctx)
}

// readTimes reads the in-commit timestamps that don't stand at the beginning of
// their commits, where the protocol wants them.
func (l *txLog) readTimes(ctx context.Context) error {
	var missing []logFile
	for _, v := range l.dir.begunCommits() {
		if _, known := l.knownTime(v); !known && l.meta.ict(v) {
			missing = append(missing, *l.seg.commit(v))
		}
	}
	_, err := l.commitHeads(ctx, missing, l.dir.lines)
	return err
}

// headBelow completes h from the best checkpoint that can be read, or from the
// commits below it.
func (l *txLog) headBelow(ctx context.Context, h *head, base int64) error {
	var first error
	for len(l.seg.checkpoints) > 0 {
		c := l.seg.checkpoints[0]
		if c.version < base { // the one above turned out to be unusable
			more, err := l.commitHeads(ctx, l.seg.commitsFrom(c.version+1), l.dir.firstLines)
			if err != nil {
				return err
			}
			h.merge(more)
		}
		found, err := l.reader.head(ctx, c)
		if err == nil && (found.protocolVersion < 0 || found.metadataVersion < 0) {
			err = corrupt(c.parts[0].name, errors.New("a checkpoint without protocol or metaData"))
		}
		if err == nil {
			h.merge(found)
			return nil
		}
		if !isCorrupt(err) {
			return err
		}
		if first == nil {
			first = err
		}
		l.dropCheckpoint(c, err)
	}
	if !l.seg.fromZero {
		if first != nil {
			return first
		}
		return nil
	}
	all, err := l.commitHeads(ctx, l.seg.commits, l.dir.firstLines)
	h.merge(all)
	return err
}

// checkpoints returns those that may still be used, the best first.
func (l *txLog) checkpoints() []checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seg.checkpoints
}

// dropCheckpoint gives up a checkpoint that can't be read, with a warning.
func (l *txLog) dropCheckpoint(c checkpoint, err error) {
	l.warn("checkpoint %d can't be read and was not used: %v", c.version, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seg.checkpoints = slices.DeleteFunc(slices.Clone(l.seg.checkpoints), func(o checkpoint) bool { return o.parts[0].name == c.parts[0].name })
}

// A lineReader calls a function with lines of a file of the log: logDir.lines
// with all, logDir.firstLines perhaps with those at its beginning.
type lineReader func(ctx context.Context, f logFile, fn func(line []byte) error) error

// commitHeads reads the lines of commits that are no files: the newest
// protocol and metaData, and in-commit timestamps.
func (l *txLog) commitHeads(ctx context.Context, commits []logFile, lines lineReader) (head, error) {
	h := noHead()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	limit := l.dir.workers()
	if l.dir.wished == 0 {
		limit *= 2 // they are waited for more than worked on
	}
	g.SetLimit(limit)
	for _, c := range commits {
		g.Go(func() error {
			found := noHead()
			err := lines(ctx, c, func(line []byte) error {
				if isFileLine(line) {
					return nil
				}
				a, err := logline.Parse(line, nil)
				if err != nil {
					return err
				}
				return l.headLine(&found, a, c.version)
			})
			mu.Lock()
			defer mu.Unlock()
			h.merge(found)
			return err
		})
	}
	return h, g.Wait()
}

// headLine takes what matters out of a line of a commit.
func (l *txLog) headLine(h *head, a logline.Action, version int64) error {
	if a.Op != logline.CommitInfo {
		return h.take(a, version)
	}
	info, err := parseCommitInfo(a.Raw)
	if err == nil && info.ICT != nil {
		l.setICT(version, *info.ICT)
	}
	return err
}

// parseCommitInfo reads a commitInfo action.
func parseCommitInfo(raw []byte) (commitInfo, error) {
	var info commitInfo
	// Writers mix their users' own members in, names that stand twice included.
	if err := json.Unmarshal(raw, &info, jsontext.AllowDuplicateNames(true)); err != nil {
		return info, fmt.Errorf("commitInfo: %w", err)
	}
	return info, nil
}

func (l *txLog) setICT(version, ms int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ict[version] = time.UnixMilli(ms).UTC()
}

// knownTime returns the in-commit timestamp of a version, if it was read.
func (l *txLog) knownTime(version int64) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.ict[version]
	return at, ok
}

// commitTimeKnown returns when a commit was made: its in-commit timestamp
// where the table has them and it was read, else its file's time.
//
// Source: Delta PROTOCOL.md "In-Commit Timestamps"; spec/delta-vacuum.md 1.5.
func (l *txLog) commitTimeKnown(c logFile) time.Time {
	if l.meta.ict(c.version) {
		if at, ok := l.knownTime(c.version); ok {
			return at
		}
	}
	return c.time
}

// commitTime is commitTimeKnown, and reads the commit if it must.
func (l *txLog) commitTime(ctx context.Context, c logFile) (time.Time, error) {
	if _, known := l.knownTime(c.version); !known && l.meta.ict(c.version) {
		if _, err := l.commitHeads(ctx, []logFile{c}, l.dir.lines); err != nil {
			return time.Time{}, err
		}
	}
	return l.commitTimeKnown(c), nil
}

// activeAt returns the newest commit made at or before an instant, ok false if
// there is none in the contiguous part of the log.
func (l *txLog) activeAt(ctx context.Context, at time.Time) (version int64, ok bool, err error) {
	commits := l.seg.commits
	i := sort.Search(len(commits), func(i int) bool {
		made, e := l.commitTime(ctx, commits[i])
		if e != nil {
			err = e
		}
		return made.After(at)
	})
	if err != nil || i == 0 {
		return 0, false, err
	}
	return commits[i-1].version, true, nil
}
