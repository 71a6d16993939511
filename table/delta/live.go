package delta

import (
	"context"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
	"github.com/lakesweep/lakesweep/table/delta/txlog"
)

// LiveFile is a data file of the version opened.
type LiveFile struct {
	Key       lake.Key // empty if it lies outside the root
	URI       string   // absolute, of a file outside the root
	Size      int64    // bytes, -1 if the log doesn't say
	Partition lake.Partition
	DV        lake.Key  // its deletion vector's file below the root, "" if none
	DVURI     string    // absolute, of a deletion vector outside the root
	HasDV     bool      // it has a deletion vector, inline ones included
	Committed time.Time // when the version that added it was made; zero where only a checkpoint holds it
}

// LiveFiles yields the live data files, each once, in no order. An error ends
// the stream, which is then incomplete.
//
// Errors: as Protect.
func (t *Table) LiveFiles(ctx context.Context) iter.Seq2[LiveFile, error] {
	parts := checkpoint.NewPartitions(t.log.Metadata.PartitionColumns)
	return stream(ctx, t, func(ctx context.Context, out chan<- []LiveFile) error {
		return visit(ctx, t, parts, false, func() *collector[LiveFile] {
			return &collector[LiveFile]{ctx: ctx, out: out, onLive: func(a *logline.Action, c *logdir.File) ([]LiveFile, error) { return t.liveFile(a, c, parts) }}
		})
	})
}

func (t *Table) liveFile(a *logline.Action, c *logdir.File, parts *checkpoint.Partitions) ([]LiveFile, error) {
	f := LiveFile{Size: a.Size, Partition: parts.Tuple(a.Values)}
	if c != nil {
		f.Committed = t.log.CommitTimeKnown(*c)
	}
	p, err := t.logPath(a.Path)
	if err != nil {
		return nil, err
	}
	if f.Key = p.Key; p.Outside {
		f.URI = a.Path
	}
	if a.DV != nil {
		f.HasDV = true
		dv, onDisk, err := t.dvPaths(a.DV)
		if err != nil {
			return nil, err
		}
		if f.DV = dv.Key; onDisk && dv.Outside {
			f.DVURI = a.DV.Text
		}
	}
	return []LiveFile{f}, nil
}

// OutsidePaths yields the paths, as stored, of all data files and deletion
// vectors outside the root that any action still in the log names, removed
// ones included: what a clone may still need of its source. A path may come
// more than once.
//
// Errors: as Protect.
func (t *Table) OutsidePaths(ctx context.Context) iter.Seq2[string, error] {
	return stream(ctx, t, func(ctx context.Context, out chan<- []string) error {
		return visit(ctx, t, nil, true, func() *collector[string] {
			return &collector[string]{ctx: ctx, out: out, onLive: t.outsidePaths, onGone: t.outsidePaths}
		})
	})
}

func (t *Table) outsidePaths(a *logline.Action, _ *logdir.File) (out []string, err error) {
	p, err := t.logPath(a.Path)
	if err != nil {
		return nil, err
	}
	if p.Outside {
		out = append(out, a.Path)
	}
	if a.DV == nil {
		return out, nil
	}
	dv, onDisk, err := t.dvPaths(a.DV)
	if err == nil && onDisk && dv.Outside {
		out = append(out, a.DV.Text)
	}
	return out, err
}

// stream turns a producer of batches into an iterator.
func stream[T any](ctx context.Context, t *Table, produce func(context.Context, chan<- []T) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		batches := make(chan []T, 4)
		var g errgroup.Group
		g.Go(func() error {
			defer close(batches)
			return produce(ctx, batches)
		})
		stopped := false
		for b := range batches {
			for _, v := range b {
				if !stopped && !yield(v, nil) {
					stopped = true
					cancel()
				}
			}
		}
		if err := g.Wait(); err != nil && !stopped {
			var none T
			yield(none, t.wrap("read log", err))
		}
	}
}

// collector is a sink that sends on what its functions make of actions.
type collector[T any] struct {
	ctx            context.Context
	out            chan<- []T
	onLive, onGone func(*logline.Action, *logdir.File) ([]T, error)
	batch          []T
}

func (s *collector[T]) Live(a *logline.Action, c *logdir.File) error { return s.take(a, c, s.onLive) }

func (s *collector[T]) Gone(a *logline.Action, c *logdir.File) error { return s.take(a, c, s.onGone) }

func (s *collector[T]) take(a *logline.Action, c *logdir.File, fn func(*logline.Action, *logdir.File) ([]T, error)) error {
	if fn == nil {
		return nil
	}
	found, err := fn(a, c)
	if err != nil {
		return err
	}
	if s.batch = append(s.batch, found...); len(s.batch) >= txlog.BatchSize {
		return s.flush()
	}
	return nil
}

func (s *collector[T]) flush() error {
	select {
	case s.out <- s.batch:
		s.batch = nil
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// flusher is a sink with something to send at the end.
type flusher interface {
	txlog.Sink
	flush() error
}

// visit replays the version opened, and with history the commits below the
// checkpoint. A corrupt checkpoint is found out first, by reading it for
// nothing, since what a sink sent can't be taken back.
func visit[S flusher](ctx context.Context, t *Table, parts *checkpoint.Partitions, history bool, start func() S) error {
	none := func(logdir.File, txlog.Batch) error { return nil }
	return t.log.WithCheckpoint(func(base *logdir.Checkpoint) error {
		if base != nil {
			nothing := func() func(*logline.Action) error { return func(*logline.Action) error { return nil } }
			if err := t.log.Reader.Files(ctx, *base, checkpoint.Values{}, nothing); err != nil {
				return err
			}
		}
		var sinks []S
		r := txlog.Commits{Log: t.log, Parts: parts}
		err := t.log.Replay(ctx, t.log.Segment.Version, base, r, func() txlog.Sink {
			s := start()
			sinks = append(sinks, s)
			return s
		}, none)
		if err == nil && base != nil && history {
			err = r.Each(ctx, t.log.Segment.Below(base.Version), func(c logdir.File, b txlog.Batch) error {
				for i := range b.Files {
					if err := sinks[0].Gone(&b.Files[i], &c); err != nil {
						return logfault.LineError(c.Name, err)
					}
				}
				return nil
			})
		}
		for _, s := range sinks {
			if err == nil {
				err = s.flush()
			}
		}
		return err
	})
}

// CountLive replays the version opened to count its data files, for Info.
//
// Errors: as Protect.
func (t *Table) CountLive(ctx context.Context) error {
	err := t.log.WithCheckpoint(func(base *logdir.Checkpoint) error {
		var sinks []*countSink
		err := t.log.Replay(ctx, t.log.Segment.Version, base, txlog.Commits{Log: t.log}, func() txlog.Sink {
			s := &countSink{}
			sinks = append(sinks, s)
			return s
		}, func(logdir.File, txlog.Batch) error { return nil })
		if err != nil {
			return err
		}
		n := liveCounts{}
		for _, s := range sinks {
			n.files, n.bytes, n.unsized = n.files+s.files, n.bytes+s.bytes, n.unsized || s.unsized
		}
		if err := t.log.CheckCounts(n.files, n.bytes, n.unsized); err != nil {
			return err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.live = [2]int64{n.files, n.bytes}
		return nil
	})
	return t.wrap("count live files", err)
}

// countSink counts what is live.
type countSink liveCounts

func (s *countSink) Live(a *logline.Action, _ *logdir.File) error {
	s.files++
	s.bytes += max(a.Size, 0)
	s.unsized = s.unsized || a.Size < 0
	return nil
}

func (s *countSink) Gone(*logline.Action, *logdir.File) error { return nil }
