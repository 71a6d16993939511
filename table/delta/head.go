package delta

import (
	"bytes"
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

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// head is what one source of the log says beside its files. A version of -1
// stands for nothing found.
type head struct {
	protocol        protocol
	metadata        Metadata
	protocolVersion int64
	metadataVersion int64
}

// commitInfo is what matters of a commitInfo action.
type commitInfo struct {
	ICT       *int64 `json:"inCommitTimestamp"`
	Operation string `json:"operation"`
}

// readHead finds the newest protocol and metaData, and the in-commit
// timestamps of the commits it passes.
func (t *Table) readHead(ctx context.Context) error {
	base := int64(-1)
	if len(t.seg.checkpoints) > 0 {
		base = t.seg.checkpoints[0].version
	}
	h, err := t.commitHeads(ctx, t.seg.commitsFrom(base+1), t.firstLines)
	if err != nil {
		return err
	}
	if h.protocolVersion < 0 || h.metadataVersion < 0 {
		if err := t.headBelow(ctx, &h, base); err != nil {
			return err
		}
	}
	switch {
	case h.protocolVersion < 0:
		return damaged(LogDir, errors.New("no protocol action anywhere"))
	case h.metadataVersion < 0:
		return damaged(LogDir, errors.New("no metaData action anywhere"))
	}
	t.protocol, t.protocolVersion = h.protocol, h.protocolVersion
	t.meta, t.metadataVersion = h.metadata, h.metadataVersion
	return t.readTimes(ctx)
}

// readTimes reads the in-commit timestamps that don't stand at the beginning of
// their commits, where the protocol wants them.
func (t *Table) readTimes(ctx context.Context) error {
	var missing []logFile
	for v := range t.begun {
		if _, known := t.ict[v]; !known && t.meta.ict(v) {
			missing = append(missing, *t.seg.commit(v))
		}
	}
	_, err := t.commitHeads(ctx, missing, t.lines)
	return err
}

// headBelow completes h from the best checkpoint that can be read, or from the
// commits below it.
func (t *Table) headBelow(ctx context.Context, h *head, base int64) error {
	var first error
	for len(t.seg.checkpoints) > 0 {
		c := t.seg.checkpoints[0]
		if c.version < base { // the one above turned out to be unusable
			more, err := t.commitHeads(ctx, t.seg.commitsFrom(c.version+1), t.firstLines)
			if err != nil {
				return err
			}
			h.merge(more)
		}
		found, err := t.checkpointHead(ctx, c)
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
		t.dropCheckpoint(c, err)
	}
	if !t.seg.fromZero {
		if first != nil {
			return first
		}
		return nil
	}
	all, err := t.commitHeads(ctx, t.seg.commits, t.firstLines)
	h.merge(all)
	return err
}

// checkpoints returns those that may still be used, the best first.
func (t *Table) checkpoints() []checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seg.checkpoints
}

// dropCheckpoint gives up a checkpoint that can't be read, with a warning.
func (t *Table) dropCheckpoint(c checkpoint, err error) {
	t.warn("checkpoint %d can't be read and was not used: %v", c.version, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seg.checkpoints = slices.DeleteFunc(slices.Clone(t.seg.checkpoints), func(o checkpoint) bool { return o.parts[0].name == c.parts[0].name })
}

func (h *head) merge(o head) {
	if o.protocolVersion > h.protocolVersion {
		h.protocol, h.protocolVersion = o.protocol, o.protocolVersion
	}
	if o.metadataVersion > h.metadataVersion {
		h.metadata, h.metadataVersion = o.metadata, o.metadataVersion
	}
}

// A lineReader calls a function with lines of a file of the log: Table.lines
// with all, Table.firstLines perhaps with those at its beginning.
type lineReader func(ctx context.Context, f logFile, fn func(line []byte) error) error

// commitHeads reads the lines of commits that are no files: the newest
// protocol and metaData, and in-commit timestamps.
func (t *Table) commitHeads(ctx context.Context, commits []logFile, lines lineReader) (head, error) {
	h := head{protocolVersion: -1, metadataVersion: -1}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	limit := t.workers()
	if t.o.Workers == 0 {
		limit *= 2 // they are waited for more than worked on
	}
	g.SetLimit(limit)
	for _, c := range commits {
		g.Go(func() error {
			found := head{protocolVersion: -1, metadataVersion: -1}
			err := lines(ctx, c, func(line []byte) error {
				if isFileLine(line) {
					return nil
				}
				a, err := logline.Parse(line, nil)
				if err != nil {
					return err
				}
				return t.headLine(&found, a, c.version)
			})
			mu.Lock()
			defer mu.Unlock()
			h.merge(found)
			return err
		})
	}
	return h, g.Wait()
}

// isFileLine reports whether a line begins as most lines do: as an add, remove
// or cdc. Protect reads those in full, and refuses a second action in them.
func isFileLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"add":`)) || bytes.HasPrefix(line, []byte(`{"remove":`)) || bytes.HasPrefix(line, []byte(`{"cdc":`))
}

func (t *Table) headLine(h *head, a logline.Action, version int64) (err error) {
	switch a.Op {
	case logline.Protocol:
		if h.protocolVersion == version {
			return errors.New("two protocols in one commit")
		}
		h.protocolVersion = version
		h.protocol, err = parseProtocol(a.Raw)
	case logline.Metadata:
		if h.metadataVersion == version {
			return errors.New("two metaData in one commit")
		}
		h.metadataVersion = version
		h.metadata, err = parseMetadata(a.Raw)
	case logline.CommitInfo:
		var info commitInfo
		if info, err = parseCommitInfo(a.Raw); err == nil && info.ICT != nil {
			t.setICT(version, *info.ICT)
		}
	case logline.Sidecar, logline.CheckpointMetadata:
		err = errors.New("an action in a commit that belongs to checkpoints only")
	}
	return err
}

func parseCommitInfo(raw []byte) (commitInfo, error) {
	var info commitInfo
	// Writers mix their users' own members in, names that stand twice included.
	if err := json.Unmarshal(raw, &info, jsontext.AllowDuplicateNames(true)); err != nil {
		return info, fmt.Errorf("commitInfo: %w", err)
	}
	return info, nil
}

func (t *Table) setICT(version, ms int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ict[version] = time.UnixMilli(ms).UTC()
}

// commitTimeKnown returns when a commit was made: its in-commit timestamp
// where the table has them and it was read, else its file's time.
//
// Source: Delta PROTOCOL.md "In-Commit Timestamps"; spec/delta-vacuum.md 1.5.
func (t *Table) commitTimeKnown(c logFile) time.Time {
	if t.meta.ict(c.version) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if at, ok := t.ict[c.version]; ok {
			return at
		}
	}
	return c.time
}

// commitTime is commitTimeKnown, and reads the commit if it must.
func (t *Table) commitTime(ctx context.Context, c logFile) (time.Time, error) {
	t.mu.Lock()
	_, known := t.ict[c.version]
	t.mu.Unlock()
	if !known && t.meta.ict(c.version) {
		if _, err := t.commitHeads(ctx, []logFile{c}, t.lines); err != nil {
			return time.Time{}, err
		}
	}
	return t.commitTimeKnown(c), nil
}

// activeAt returns the newest commit made at or before an instant, ok false if
// there is none in the contiguous part of the log.
func (t *Table) activeAt(ctx context.Context, at time.Time) (version int64, ok bool, err error) {
	commits := t.seg.commits
	i := sort.Search(len(commits), func(i int) bool {
		made, e := t.commitTime(ctx, commits[i])
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

// corruptError is a fault inside a checkpoint: an older one, or the commits,
// may still give the state.
type corruptError struct{ err error }

func (c *corruptError) Error() string { return c.err.Error() }
func (c *corruptError) Unwrap() error { return c.err }

func corrupt(name string, err error) error { return &corruptError{damaged(name, err)} }

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*corruptError](err)
	return ok && lake.KindOf(err) == lake.Damaged
}
