package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// due is an entry of the queue that the plan lists.
type due struct {
	entry blobqueue.Entry
	row   lake.Verdict
	now   store.Info
	grain time.Duration // how much later than it says the object may have been modified
	err   error         // of looking at it
	known bool          // it lies where it may die, and was looked at
}

// gather finds out which due entries are to be judged: d.rows.
func (d *drain) gather(ctx context.Context) error {
	fence, err := d.Fence(ctx)
	if err != nil {
		return err
	}
	held := ""
	if d.Hold != nil {
		if held, err = d.Hold(ctx); err != nil {
			return err
		}
	}
	oldest, err := d.cutoff(ctx)
	if err != nil {
		return err
	}
	var batch []due
	taken, fenced, waiting := 0, 0, 0
	for x, err := range d.listed(ctx) {
		if err != nil {
			return err
		}
		switch {
		case !d.waited(&x.entry, d.o.Now()):
			d.outcome(&x.row, filelist.Queued, nil)
			continue
		case held != "":
			waiting++
			d.outcome(&x.row, filelist.Queued, nil)
			continue
		case fence != "" && fence <= x.entry.Enqueued:
			fenced++ // a write that began before may yet refer to it
			d.outcome(&x.row, filelist.Queued, nil)
			continue
		case d.o.MaxCandidates > 0 && (x.entry.Enqueued > oldest || taken == d.o.MaxCandidates):
			d.outcome(&x.row, filelist.Queued, nil)
			continue
		}
		taken++
		d.taken.Add(identity(&x.entry))
		if batch = append(batch, x); len(batch) == looksAtOnce*looksAtOnce {
			if err := d.look(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if fenced > 0 {
		d.warn(fmt.Sprintf("%d blobs that are due wait for the write %s, which began before they were queued and isn't complete", fenced, fence))
	}
	if waiting > 0 {
		d.warn(fmt.Sprintf("%d blobs that are due wait: %s", waiting, held))
	}
	err = d.look(ctx, batch)
	if d.foreign > 0 {
		d.warn(fmt.Sprintf("%d blobs that were due are kept and leave the queue, as no blob dies in a table's folder, such as %v", d.foreign, d.firstForeign))
	}
	return err
}

// identity tells an entry from another one of its blob, which was queued anew:
// its instant may be the same, where a writer's clock is ahead.
func identity(e *blobqueue.Entry) lake.Key {
	return lake.Key(fmt.Sprintf("%s\x00%s\x00%d", e.Path, e.Enqueued, e.At.UnixMicro()))
}

// waited reports whether an entry's grace time is over. One whose time can't
// be told stays.
func (d *drain) waited(e *blobqueue.Entry, now time.Time) bool {
	return !e.At.IsZero() && !now.Before(e.At.Add(d.o.Grace))
}

// cutoff returns the newest enqueue instant among as many of the oldest due
// entries as a drain may take.
func (d *drain) cutoff(ctx context.Context) (string, error) {
	if d.o.MaxCandidates <= 0 {
		return "", nil
	}
	var instants []string
	for x, err := range d.listed(ctx) {
		if err != nil {
			return "", err
		}
		if d.waited(&x.entry, d.o.Now()) {
			instants = append(instants, x.entry.Enqueued)
		}
		if len(instants) >= 2*d.o.MaxCandidates {
			slices.Sort(instants)
			instants = instants[:d.o.MaxCandidates]
		}
	}
	slices.Sort(instants)
	if len(instants) == 0 {
		return "", nil
	}
	return instants[min(len(instants), d.o.MaxCandidates)-1], nil
}

// listed yields the entries of the queue that are rows of the plan too.
func (d *drain) listed(ctx context.Context) iter.Seq2[due, error] {
	return func(yield func(due, error) bool) {
		next, stop := iter.Pull2(d.snap.Entries(ctx))
		defer stop()
		e, err, more := next()
		for v, rerr := range d.Cleared.Plan().Rows() {
			if rerr != nil {
				yield(due{}, rerr)
				return
			}
			if v.URI == "" || v.Reason != lake.ExpiredBlob || d.o.Take != nil && !d.o.Take(&v) {
				continue
			}
			for more && err == nil && e.Path < v.URI {
				e, err, more = next()
			}
			if err != nil {
				yield(due{}, err)
				return
			}
			if !more {
				return
			}
			if e.Path == v.URI && !yield(due{entry: e, row: v}, nil) {
				return
			}
		}
	}
}

// look looks at objects where they lie and sorts them out.
func (d *drain) look(ctx context.Context, batch []due) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(looksAtOnce)
	for i := range batch {
		x := &batch[i]
		place, standing := d.Names.Place(lake.BlobID(x.entry.Path))
		if standing != lake.MayDie {
			continue
		}
		x.known = true
		g.Go(func() error {
			p, name, err := d.Open(gctx, place)
			if err == nil {
				x.now, err = p.Stat(gctx, name)
				x.grain = p.Traits().ClockGrain
				if d.Behind != nil {
					x.grain += d.Behind(place)
				}
			}
			x.err = err
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return &lake.Error{Op: "drain blobs", Kind: lake.Interrupted, Err: err, Hint: "Run again."}
	}
	for i := range batch {
		if err := d.sort(&batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// sort decides about one object that was looked at.
func (d *drain) sort(x *due) error {
	e, v := &x.entry, x.row
	switch {
	case !x.known:
		d.outcome(&v, filelist.Queued, nil)
	case errors.Is(x.err, fs.ErrNotExist):
		d.off.Add(lake.Key(e.Path))
		d.outcome(&v, filelist.Gone, nil)
	case errors.Is(x.err, ErrForeign):
		d.off.Add(lake.Key(e.Path)) // no queue lets it die, and none has to remember it
		if d.foreign++; d.foreign == 1 {
			d.firstForeign = fmt.Errorf("%s: %w", e.Path, x.err)
		}
		d.outcome(&v, filelist.Spared, x.err)
	case x.err != nil:
		d.outcome(&v, filelist.Failed, fmt.Errorf("look at it: %w", x.err))
	case x.now.Kind != store.File:
		d.outcome(&v, filelist.Queued, nil)
	case x.now.Modified.IsZero():
		d.outcome(&v, filelist.Queued, nil)
	case !x.now.Modified.Add(x.grain).Before(e.At) || e.ETag != "" && x.now.ETag != "" && e.ETag != x.now.ETag:
		d.off.Add(lake.Key(e.Path)) // uploaded anew while it waited: another object by now
		d.outcome(&v, filelist.Spared, nil)
	case d.o.Now().Sub(x.now.Modified.Add(x.grain)) < d.o.MinAge:
		d.outcome(&v, filelist.Queued, nil)
	default:
		v.Size, v.Modified, v.ETag = x.now.Size, x.now.Modified, x.now.ETag
		v.DueAt = e.At.Add(d.o.Grace)
		return d.rows.Add(v)
	}
	return nil
}

// candidates yields what is to be judged.
func (d *drain) candidates(yield func(lake.BlobID, error) bool) {
	for v, err := range d.rows.Sorted() {
		if !yield(lake.BlobID(v.URI), err) {
			return
		}
	}
}
