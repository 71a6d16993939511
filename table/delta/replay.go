package delta

import (
	"context"
	"fmt"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// sink receives what a replay finds. A checkpoint is read by several
// goroutines, each with a sink of its own.
type sink interface {
	// live is an add of the version replayed. c is its commit, nil for a checkpoint's.
	live(a *logline.Action, c *logFile) error
	// gone is a remove or change data, or an add that a later action replaced. c is its commit, nil for a checkpoint's.
	gone(a *logline.Action, c *logFile) error
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

// replay finds the files of a version: its commits newest first, then the
// checkpoint below them. Which of the actions with one identity counts is the
// newest; the order inside a commit means nothing, and of an add and a remove
// in one commit the add counts.
//
// Source: Delta PROTOCOL.md "Action Reconciliation"; spec/delta-vacuum.md 1.4.
func (l *txLog) replay(ctx context.Context, version int64, base *checkpoint, r commitReader, start func() sink, others func(c logFile, b batch) error) error {
	from := int64(0)
	if base != nil {
		from = base.version + 1
	}
	commits := slices.Clone(l.seg.commitsFrom(from))
	commits = commits[:max(version-from+1, 0)]
	slices.Reverse(commits)
	keys := keyset.NewExact()
	r.keys = keys
	out, rec := start(), reconciler{keys: keys, version: -1}
	done := int64(0)
	err := r.each(ctx, commits, func(c logFile, b batch) error {
		if err := rec.batch(&c, &b, out); err != nil {
			return lineError(c.name, err)
		}
		done += int64(len(b.files))
		l.observer.Emit(lake.Event{Stage: "replay", Done: done})
		return others(c, b)
	})
	if err != nil || base == nil {
		return err
	}
	values := checkpointValues{adds: r.parts, removes: r.parts}
	if r.removedOnly {
		values.adds = nil
	}
	none := keys.Len() == 0 // and that is all now
	return l.reader.files(ctx, *base, values, func() func(*logline.Action) error {
		out := start()
		return func(a *logline.Action) error {
			if a.Op == logline.Add && (none || !keys.HasPrint(identity(keys, a))) {
				return out.live(a, nil)
			}
			return out.gone(a, nil)
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
func (r *reconciler) batch(c *logFile, b *batch, out sink) error {
	if c.version != r.version {
		r.version, r.removed = c.version, nil
	}
	r.fresh = slices.Grow(r.fresh[:0], len(b.files))[:len(b.files)]
	r.keys.AddAll(b.prints, r.fresh)
	for i := range b.files {
		a, take := &b.files[i], sink.gone
		switch a.Op {
		case logline.Add:
			if r.fresh[i] || r.removed[b.prints[i]] {
				take = sink.live
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

// withCheckpoint calls fn with the best checkpoint, nil where there is none,
// and again with the next one as long as one turns out to be corrupt.
func (l *txLog) withCheckpoint(fn func(base *checkpoint) error) error {
	for {
		var base *checkpoint
		if all := l.checkpoints(); len(all) > 0 {
			base = &all[0]
		}
		if base == nil && !l.seg.fromZero {
			return damaged(LogDir, fmt.Errorf("no checkpoint can be read and commits before %d are gone", l.seg.first()))
		}
		err := fn(base)
		if base == nil || !isCorrupt(err) {
			return err
		}
		if len(l.checkpoints()) == 1 && !l.seg.fromZero {
			return err
		}
		l.dropCheckpoint(*base, err)
	}
}
