package txlog

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

	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// commitInfo is what matters of a commitInfo action.
type commitInfo struct {
	ICT       *int64 `json:"inCommitTimestamp"`
	Operation string `json:"operation"`
}

// readHead finds the newest protocol and metaData, and the in-commit
// timestamps of the commits it passes.
func (l *Log) readHead(ctx context.Context) error {
	base := int64(-1)
	if len(l.Segment.Checkpoints) > 0 {
		base = l.Segment.Checkpoints[0].Version
	}
	h, err := l.commitHeads(ctx, l.Segment.CommitsFrom(base+1), l.Dir.FirstLines)
	if err != nil {
		return err
	}
	if h.ProtocolVersion < 0 || h.MetadataVersion < 0 {
		if err := l.headBelow(ctx, &h, base); err != nil {
			return err
		}
	}
	switch {
	case h.ProtocolVersion < 0:
		return logfault.Damaged(meta.LogDir, errors.New("no protocol action anywhere"))
	case h.MetadataVersion < 0:
		return logfault.Damaged(meta.LogDir, errors.New("no metaData action anywhere"))
	}
	l.Protocol, l.protocolVersion = h.Protocol, h.ProtocolVersion
	l.Metadata, l.metadataVersion = h.Metadata, h.MetadataVersion
	return l.readTimes(ctx)
}

// readTimes reads the in-commit timestamps that don't stand at the beginning of
// their commits, where the protocol wants them.
func (l *Log) readTimes(ctx context.Context) error {
	var missing []logdir.File
	for _, v := range l.Dir.BegunCommits() {
		if _, known := l.KnownTime(v); !known && l.Metadata.ICT(v) {
			missing = append(missing, *l.Segment.Commit(v))
		}
	}
	_, err := l.commitHeads(ctx, missing, l.Dir.Lines)
	return err
}

// headBelow completes h from the best checkpoint that can be read, or from the
// commits below it.
func (l *Log) headBelow(ctx context.Context, h *meta.Head, base int64) error {
	var first error
	for len(l.Segment.Checkpoints) > 0 {
		c := l.Segment.Checkpoints[0]
		if c.Version < base { // the one above turned out to be unusable
			more, err := l.commitHeads(ctx, l.Segment.CommitsFrom(c.Version+1), l.Dir.FirstLines)
			if err != nil {
				return err
			}
			h.Merge(more)
		}
		found, err := l.Reader.Head(ctx, c)
		if err == nil && (found.ProtocolVersion < 0 || found.MetadataVersion < 0) {
			err = logfault.Corrupt(c.Parts[0].Name, errors.New("a checkpoint without protocol or metaData"))
		}
		if err == nil {
			h.Merge(found)
			return nil
		}
		if !logfault.IsCorrupt(err) {
			return err
		}
		if first == nil {
			first = err
		}
		l.dropCheckpoint(c, err)
	}
	if !l.Segment.FromZero {
		if first != nil {
			return first
		}
		return nil
	}
	all, err := l.commitHeads(ctx, l.Segment.Commits, l.Dir.FirstLines)
	h.Merge(all)
	return err
}

// Checkpoints returns those that may still be used, the best first.
func (l *Log) Checkpoints() []logdir.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Segment.Checkpoints
}

// dropCheckpoint gives up a checkpoint that can't be read, with a warning.
func (l *Log) dropCheckpoint(c logdir.Checkpoint, err error) {
	l.warn("checkpoint %d can't be read and was not used: %v", c.Version, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Segment.Checkpoints = slices.DeleteFunc(slices.Clone(l.Segment.Checkpoints), func(o logdir.Checkpoint) bool { return o.Parts[0].Name == c.Parts[0].Name })
}

// A lineReader calls a function with lines of a file of the log: Dir.Lines
// with all, Dir.FirstLines perhaps with those at its beginning.
type lineReader func(ctx context.Context, f logdir.File, fn func(line []byte) error) error

// commitHeads reads the lines of commits that are no files: the newest
// protocol and metaData, and in-commit timestamps.
func (l *Log) commitHeads(ctx context.Context, commits []logdir.File, lines lineReader) (meta.Head, error) {
	h := meta.NoHead()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	limit := l.Dir.Workers()
	if l.Dir.Wished == 0 {
		limit *= 2 // they are waited for more than worked on
	}
	g.SetLimit(limit)
	for _, c := range commits {
		g.Go(func() error {
			found := meta.NoHead()
			err := lines(ctx, c, func(line []byte) error {
				if logdir.IsFileLine(line) {
					return nil
				}
				a, err := logline.Parse(line, nil)
				if err != nil {
					return err
				}
				return l.headLine(&found, a, c.Version)
			})
			mu.Lock()
			defer mu.Unlock()
			h.Merge(found)
			return err
		})
	}
	return h, g.Wait()
}

// headLine takes what matters out of a line of a commit.
func (l *Log) headLine(h *meta.Head, a logline.Action, version int64) error {
	if a.Op != logline.CommitInfo {
		return h.Take(a, version)
	}
	info, err := ParseCommitInfo(a.Raw)
	if err == nil && info.ICT != nil {
		l.setICT(version, *info.ICT)
	}
	return err
}

// ParseCommitInfo reads a commitInfo action.
func ParseCommitInfo(raw []byte) (commitInfo, error) {
	var info commitInfo
	// Writers mix their users' own members in, names that stand twice included.
	if err := json.Unmarshal(raw, &info, jsontext.AllowDuplicateNames(true)); err != nil {
		return info, fmt.Errorf("commitInfo: %w", err)
	}
	return info, nil
}

func (l *Log) setICT(version, ms int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ict[version] = time.UnixMilli(ms).UTC()
}

// KnownTime returns the in-commit timestamp of a version, if it was read.
func (l *Log) KnownTime(version int64) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.ict[version]
	return at, ok
}

// CommitTimeKnown returns when a commit was made: its in-commit timestamp
// where the table has them and it was read, else its file's time.
//
// Source: Delta PROTOCOL.md "In-Commit Timestamps"; spec/delta-vacuum.md 1.5.
func (l *Log) CommitTimeKnown(c logdir.File) time.Time {
	if l.Metadata.ICT(c.Version) {
		if at, ok := l.KnownTime(c.Version); ok {
			return at
		}
	}
	return c.Time
}

// CommitTime is CommitTimeKnown, and reads the commit if it must.
func (l *Log) CommitTime(ctx context.Context, c logdir.File) (time.Time, error) {
	if _, known := l.KnownTime(c.Version); !known && l.Metadata.ICT(c.Version) {
		if _, err := l.commitHeads(ctx, []logdir.File{c}, l.Dir.Lines); err != nil {
			return time.Time{}, err
		}
	}
	return l.CommitTimeKnown(c), nil
}

// ActiveAt returns the newest commit made at or before an instant, ok false if
// there is none in the contiguous part of the log.
func (l *Log) ActiveAt(ctx context.Context, at time.Time) (version int64, ok bool, err error) {
	commits := l.Segment.Commits
	i := sort.Search(len(commits), func(i int) bool {
		made, e := l.CommitTime(ctx, commits[i])
		if e != nil {
			err = e
		}
		return made.After(at)
	})
	if err != nil || i == 0 {
		return 0, false, err
	}
	return commits[i-1].Version, true, nil
}
