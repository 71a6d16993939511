package txlog

import (
	"context"
	"fmt"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Sink receives what a replay finds. A checkpoint is read by several
// goroutines, each with a sink of its own.
type Sink interface {
	// Live is an add of the version replayed. c is its commit, nil for a checkpoint's.
	Live(a *logline.Action, c *logdir.File) error
	// Gone is a remove or change data, or an add that a later action replaced. c is its commit, nil for a checkpoint's.
	Gone(a *logline.Action, c *logdir.File) error
}

// identity returns what tells a file from others in a version, zero for change data.
func identity(keys *keyset.Exact, a *logline.Action) keyset.Print {
	switch {
	case a.Op == logline.CDC:
		return keyset.Print{}
	case a.DV == nil:
		return keys.Print(a.Path)
	}
	return keys.Print(a.Path, a.DV.ID())
}

// Replay finds the files of a version: its commits newest first, then the
// checkpoint below them. Which of the actions with one identity counts is the
// newest; the order inside a commit means nothing, and of an add and a remove
// in one commit the add counts.
//
// Source: Delta PROTOCOL.md "Action Reconciliation"; spec/delta-vacuum.md 1.4.
func (l *Log) Replay(ctx context.Context, version int64, base *logdir.Checkpoint, r Commits, start func() Sink, others func(c logdir.File, b Batch) error) error {
	from := int64(0)
	if base != nil {
		from = base.Version + 1
	}
	commits := slices.Clone(l.Segment.CommitsFrom(from))
	commits = commits[:max(version-from+1, 0)]
	slices.Reverse(commits)
	keys := keyset.NewExact()
	r.keys = keys
	out, rec := start(), reconciler{keys: keys, version: -1}
	done := int64(0)
	err := r.Each(ctx, commits, func(c logdir.File, b Batch) error {
		if err := rec.batch(&c, &b, out); err != nil {
			return logfault.LineError(c.Name, err)
		}
		done += int64(len(b.Files))
		l.observer.Emit(lake.Event{Stage: "replay", Done: done})
		return others(c, b)
	})
	if err != nil || base == nil {
		return err
	}
	values := checkpoint.Values{Adds: r.Parts, Removes: r.Parts}
	if r.RemovedOnly {
		// A later remove without values of its own leaves a file's unknown, where only this add has them: WHERE keeps it then.
		values.Adds = nil
	}
	none := keys.Len() == 0 // and that is all now
	return l.Reader.Files(ctx, *base, values, func() func(*logline.Action) error {
		out := start()
		return func(a *logline.Action) error {
			if a.Op == logline.Add && (none || !keys.HasPrint(identity(keys, a))) {
				return out.Live(a, nil)
			}
			return out.Gone(a, nil)
		}
	})
}

// reconciler takes the actions of commits, newest commit first.
type reconciler struct {
	keys    *keyset.Exact         // identities of all so far
	version int64                 // of the commit at hand
	removed map[keyset.Print]bool // in this commit, before an add of the same file
	fresh   []bool
}

// batch hands a part of a commit to out.
func (r *reconciler) batch(c *logdir.File, b *Batch, out Sink) error {
	if c.Version != r.version {
		r.version, r.removed = c.Version, nil
	}
	r.fresh = slices.Grow(r.fresh[:0], len(b.Files))[:len(b.Files)]
	r.keys.AddAll(b.prints, r.fresh)
	for i := range b.Files {
		a, take := &b.Files[i], Sink.Gone
		switch a.Op {
		case logline.Add:
			if r.fresh[i] || r.removed[b.prints[i]] {
				take = Sink.Live
			}
		case logline.Remove:
			if r.fresh[i] {
				if r.removed == nil {
					r.removed = make(map[keyset.Print]bool)
				}
				r.removed[b.prints[i]] = true
			}
		}
		if err := take(out, a, c); err != nil {
			return err
		}
	}
	return nil
}

// WithCheckpoint calls fn with the best checkpoint, nil where there is none,
// and again with the next one as long as one turns out to be corrupt.
func (l *Log) WithCheckpoint(fn func(base *logdir.Checkpoint) error) error {
	for {
		var base *logdir.Checkpoint
		if all := l.Checkpoints(); len(all) > 0 {
			base = &all[0]
		}
		if base == nil && !l.Segment.FromZero {
			return logfault.Damaged(meta.LogDir, fmt.Errorf("no checkpoint can be read and commits before %d are gone", l.Segment.First()))
		}
		err := fn(base)
		if base == nil || !logfault.IsCorrupt(err) {
			return err
		}
		if len(l.Checkpoints()) == 1 && !l.Segment.FromZero {
			return err
		}
		l.dropCheckpoint(*base, err)
	}
}
