package checkpoint

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/logline"
)

// Files calls a function of each of at most rowGroupWorkers goroutines with every add
// and remove of a checkpoint: as many row groups are read at once, each by at most
// as many requests at once as the Dir has workers. start makes such a function; it and its
// action are used by one goroutine at a time.
func (r *Reader) Files(ctx context.Context, c logdir.Checkpoint, parts Values, start func() func(*logline.Action) error) error {
	o, err := r.openCheckpoint(ctx, c)
	if err != nil {
		return err
	}
	fns := make([]func(*logline.Action) error, r.rowGroupWorkers())
	for i := range fns {
		fns[i] = start()
	}
	if o.json != nil {
		intern := parts.Removes.Interner()
		if parts.Adds != nil {
			intern = parts.Adds.Interner()
		}
		err := r.dir.Lines(ctx, *o.json, func(line []byte) error {
			a, err := logline.Parse(line, intern)
			if err != nil || a.Op != logline.Add && a.Op != logline.Remove {
				return err
			}
			return fns[0](&a)
		})
		if err != nil {
			return logfault.AsCorrupt(err)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	var groups []*rowGroup
	for _, p := range o.files {
		for i := range p.f.RowGroups() {
			groups = append(groups, &rowGroup{dir: r.dir, ctx: ctx, file: p, index: i})
		}
	}
	if len(groups) < len(fns) {
		spread(ctx, g, groups, parts, fns)
		return g.Wait()
	}
	free := make(chan func(*logline.Action) error, len(fns))
	for _, fn := range fns {
		free <- fn
	}
	g.SetLimit(len(fns))
	for _, group := range groups {
		g.Go(func() error {
			fn := <-free
			defer func() { free <- fn }()
			return group.run(func() error { return group.files(parts, fn) })
		})
	}
	return g.Wait()
}

// rowGroupWorkers is how many row groups are read at once: on a store that has
// to be waited for, more than there are processors.
func (r *Reader) rowGroupWorkers() int {
	if r.dir.Workers() > 8 {
		return max(runtime.GOMAXPROCS(0), 8)
	}
	return runtime.GOMAXPROCS(0)
}

// rowsAtOnce is how many actions are handed over at once.
const rowsAtOnce = 1024

// rows is some actions of a row group.
type rows struct {
	of      *rowGroup
	actions []logline.Action
}

// spread makes g read fewer row groups than there are functions, and all the
// functions take a share of their rows: reading them is the smaller part of the
// work.
func spread(ctx context.Context, g *errgroup.Group, groups []*rowGroup, parts Values, fns []func(*logline.Action) error) {
	full := make(chan rows, len(fns))
	empty := make(chan []logline.Action, 2*len(fns)+len(groups)) // to be filled again
	var reading sync.WaitGroup
	for _, group := range groups {
		reading.Add(1)
		g.Go(func() error {
			defer reading.Done()
			return group.run(func() error { return group.batches(ctx, parts, full, empty) })
		})
	}
	for _, fn := range fns {
		g.Go(func() error {
			for r := range full {
				for i := range r.actions {
					if err := fn(&r.actions[i]); err != nil {
						return r.of.fault(err)
					}
				}
				if ctx.Err() != nil {
					return interrupted(ctx)
				}
				clear(r.actions)
				select {
				case empty <- r.actions[:0]:
				default:
				}
			}
			return nil
		})
	}
	go func() {
		reading.Wait()
		close(full)
	}()
}

func interrupted(ctx context.Context) error {
	return &lake.Error{Op: "read checkpoint", Kind: lake.Interrupted, Err: ctx.Err()}
}

// batches sends every add and remove of a row group to full.
func (g *rowGroup) batches(ctx context.Context, parts Values, full chan<- rows, empty <-chan []logline.Action) error {
	var batch []logline.Action
	flush := func() error {
		select {
		case full <- rows{g, batch}:
			batch = nil
			return nil
		case <-ctx.Done():
			return interrupted(ctx)
		}
	}
	err := g.files(parts, func(a *logline.Action) error {
		if batch == nil {
			select {
			case batch = <-empty:
			default:
				batch = make([]logline.Action, 0, rowsAtOnce)
			}
		}
		if batch = append(batch, *a); len(batch) < rowsAtOnce {
			return nil
		}
		return flush()
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return flush()
}
