package reap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// errLimit ends the rows when a limit is reached; Result.Limit names it.
var errLimit = errors.New("a limit was reached")

// dispatcher hands batches to workers, at most Options.Workers at a time.
type dispatcher struct {
	*run
	slots   chan struct{}
	working sync.WaitGroup
	batch   []lake.Verdict
}

// rows carries out the rows that are files, in order, batch by batch.
// Directories are put by for later.
func (r *run) rows(ctx context.Context) error {
	d := &dispatcher{run: r, slots: make(chan struct{}, r.o.Workers)}
	err := d.all(ctx)
	if err == nil || errors.Is(err, errLimit) {
		if last := d.send(ctx); last != nil {
			err = last
		}
	}
	d.working.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	return err
}

func (d *dispatcher) all(ctx context.Context) error {
	limited := false
	for v, err := range d.job.Cleared.Plan().Rows() {
		switch {
		case err != nil:
			return err
		case d.done != nil && d.done.Has(identity(v.Key, v.URI)):
			continue
		case d.others(v.URI) || d.o.Only != nil && !d.o.Only(&v):
			continue
		case d.kept != nil && d.kept.Has(v.Key):
			d.settle(&v, filelist.Spared)
			continue
		}
		if err := d.lawful(&v); err != nil {
			return err
		}
		switch {
		case v.Directory:
			d.dirs = append(d.dirs, v)
			continue
		case limited:
			d.settle(&v, filelist.Skipped)
			continue
		}
		fits, err := d.reserve(ctx, &v)
		if err != nil {
			return err
		}
		if !fits {
			limited = true
			d.settle(&v, filelist.Skipped)
			continue
		}
		if d.batch = append(d.batch, v); len(d.batch) == d.o.BatchSize {
			if err := d.send(ctx); err != nil {
				return err
			}
		}
	}
	if limited {
		return errLimit
	}
	return nil
}

// reserve takes a row out of the limits' budget. When it doesn't fit, the
// running batches may still give back what they didn't delete.
func (d *dispatcher) reserve(ctx context.Context, v *lake.Verdict) (bool, error) {
	if d.take(v) {
		return true, nil
	}
	if err := d.send(ctx); err != nil {
		return false, err
	}
	d.working.Wait()
	return d.take(v), nil
}

// send hands the batch at hand to a worker, less what the guardian protects.
func (d *dispatcher) send(ctx context.Context) error {
	if len(d.batch) == 0 {
		return nil
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return d.interrupted(err)
	}
	if err := d.failed(); err != nil {
		return err
	}
	if err := d.refresh(ctx); err != nil {
		return err
	}
	batch := make([]lake.Verdict, 0, len(d.batch))
	for _, v := range d.batch {
		if d.job.Guardian.Protected(identity(v.Key, v.URI)) {
			d.spare(&v)
			continue
		}
		batch = append(batch, v)
	}
	d.batch = d.batch[:0]
	d.working.Go(func() {
		defer func() { <-d.slots }()
		// A signal lets the batch finish.
		if err := d.execute(context.WithoutCancel(ctx), batch); err != nil {
			d.fail(err)
		}
	})
	return nil
}

// spare settles a row that the guardian protects.
func (r *run) spare(v *lake.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unspend(v)
	r.settleLocked(&item{v: *v, size: v.Size, outcome: filelist.Spared})
}

func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *run) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// lawful refuses names that no plan may hold: the root, logs and timelines at
// any depth, what the format reserves, and spellings that a store might
// resolve to another place. A plan with such a row is wrong as a whole.
func (r *run) lawful(v *lake.Verdict) error {
	refuse := func(why string) error {
		return &lake.Error{Op: "apply", Table: r.head.Table, Key: v.Key, Kind: lake.Refused, Code: "reserved_name", Err: errors.New(why),
			Hint: "The plan is not to be trusted; report it. Nothing more was deleted."}
	}
	if v.URI != "" {
		if r.o.Blob == nil {
			return refuse(fmt.Sprintf("the plan names the blob %s, which this run can't reach", v.URI))
		}
		return nil
	}
	if v.Key == "" {
		return refuse("the plan names the table's root")
	}
	if why := reservedName(v.Key, r.job.Place.Traits()); why != "" {
		return refuse(why)
	}
	if r.o.Reserved != nil && r.o.Reserved(v.Key) {
		return refuse("the plan names an object that belongs to the table's own metadata")
	}
	return nil
}

func reservedName(k lake.Key, t store.Traits) string {
	for name := range k.Components {
		switch {
		case t.CaseFolds && (strings.EqualFold(name, "_delta_log") || strings.EqualFold(name, ".hoodie")), name == "_delta_log", name == ".hoodie":
			return "the plan names an object of a log or timeline"
		case name == "." || name == ".." || name == "" && t.Directories:
			return "the plan names an object by a path that leads elsewhere"
		}
	}
	return ""
}
