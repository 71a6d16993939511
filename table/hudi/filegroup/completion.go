package filegroup

import (
	"context"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// completions answers when an instant completed, from the active timeline or,
// for older ones, the archived one, which is read when first needed. Safe for
// concurrent use.
type completions struct {
	load   func(context.Context) (timeline.Archive, error)
	start  string
	active map[string]timeline.Instant // writes by requested time

	mu      sync.Mutex
	read    bool
	archive timeline.Archive
	first   string // oldest instant of the archive
	err     error
}

func newCompletions(tl *timeline.Timeline, load func(context.Context) (timeline.Archive, error)) *completions {
	c := &completions{load: load, start: tl.Start(), active: make(map[string]timeline.Instant)}
	for _, i := range tl.Instants {
		if timeline.IsWrite(i.Action) {
			c.active[i.Time] = i
		}
	}
	return c
}

func (c *completions) archived(ctx context.Context) (timeline.Archive, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read {
		c.archive, c.err = c.load(ctx)
		for time := range c.archive.Completion {
			if c.first == "" || time < c.first {
				c.first = time
			}
		}
		c.read = true
	}
	return c.archive, c.err
}

// gone reports whether an instant that isn't on the timeline was never
// completed for sure. Writers archive while the timeline is being listed, so
// the archived timeline, read later, is asked for any instant; and users remove
// its oldest files, so it says nothing of what lies before its first instant.
func (c *completions) gone(ctx context.Context, time string) (bool, error) {
	if c.start == "" || strings.HasPrefix(time, "0000000000000") {
		return false, nil
	}
	a, err := c.archived(ctx)
	if err != nil {
		return false, err
	}
	if _, known := a.Completion[time]; known {
		return false, nil
	}
	return time >= c.start || a.Known && c.first != "" && time > c.first, nil
}

// of returns the completion time of a log's delta commit, to be compared with
// the instants of slices. ok is false for one that isn't complete, or that
// neither timeline knows, so that it may have completed at any time since, or of
// which only the time of its file is known, which a copy changes and which is in
// no zone of the table's.
//
// Source: Hudi 1.2.0, CompletionTimeQueryViewV2; spec/hudi-clean.md 4.2.
func (c *completions) of(ctx context.Context, time string) (completion string, ok bool, err error) {
	if i, found := c.active[time]; found {
		return i.Completion, i.State == timeline.Completed && !i.Legacy, nil
	}
	if time >= c.start {
		return "", false, nil
	}
	a, err := c.archived(ctx)
	if err != nil {
		return "", false, err
	}
	done := a.Completion[time]
	return done, done != "", nil
}

// known reports whether an instant before the timeline's start was completed,
// as far as the archived timeline tells; without one it is believed.
func (c *completions) known(ctx context.Context, time string) (bool, error) {
	if strings.HasPrefix(time, "0000000000000") {
		return true, nil // bootstrap
	}
	a, err := c.archived(ctx)
	if err != nil || !a.Known {
		return true, err
	}
	_, ok := a.Completion[time]
	return ok, nil
}

// visibility tells committed slices from others.
//
// Source: spec/hudi-clean.md section 4.2, number 4; invariant 2.
type visibility struct {
	instants map[string]bool // completed writes, pending compactions and log compactions
	last     string
	c        *completions
}

func newVisibility(tl *timeline.Timeline, c *completions) visibility {
	v := visibility{instants: make(map[string]bool), c: c}
	for _, i := range tl.Instants {
		if timeline.IsWrite(i.Action) && i.State == timeline.Completed || i.Action == timeline.Compaction || i.Action == timeline.LogCompaction {
			v.instants[i.Time] = true
			v.last = max(v.last, i.Time)
		}
	}
	return v
}

// committed reports whether the slice of instant is part of the table.
func (v visibility) committed(ctx context.Context, instant string) (bool, error) {
	if v.instants[instant] {
		return true, nil
	}
	if instant > v.last || instant >= v.c.start {
		return false, nil
	}
	return v.c.known(ctx, instant)
}
