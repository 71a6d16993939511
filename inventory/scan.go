package inventory

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/inventory/internal/catalog"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Rows hands on all rows of the list, in no order. emit is called by several
// goroutines at once; a batch is lent for the call, its strings may be kept.
// What was handed on counts only if Rows returns no error.
//
// Shape: up to 1e10 rows; memory for at most 3 MiB a worker and column in use,
// and of a journal 32 MiB more.
// Errors: Damaged for a file that is missing, cut or not the manifest's;
// Invalid for a file without the columns; emit's first error.
func (s *Source) Rows(ctx context.Context, emit func([]Row) error) (Counts, error) {
	return s.rows(ctx, nil, emit)
}

// rows is Rows; of a journal only the rows that needed reports matter, nil needs all.
func (s *Source) rows(ctx context.Context, needed func([]Row, []bool), emit func([]Row) error) (_ Counts, err error) {
	expected := max(s.info.Rows, 0)
	var done atomic.Int64
	observe := func(rows []Row) {
		s.o.Observer.Emit(lake.Event{Stage: "inventory", Done: done.Add(int64(len(rows))), Expected: expected})
	}
	r := rowset.Run{Clock: value.Times{Now: s.o.Now().UTC()}, Tally: &rowset.Tally{}, Emit: func(rows []Row) error {
		observe(rows)
		return emit(rows)
	}}
	if s.form.Journal {
		r.Replay = rowset.NewReplay(needed, observe, emit)
		defer func() { err = errors.Join(err, r.Replay.Close()) }()
	}
	err = s.readParts(ctx, r)
	total := r.Tally.Counts()
	if err != nil {
		return total, err
	}
	if !s.form.Fits(total) {
		return total, catalog.Invalid(s.o.Source, fmt.Errorf("the first names look encoded as %s, later ones don't", s.form.Encoding), catalog.EncodingHint)
	}
	if total.Rows < s.info.Rows {
		return total, &lake.Error{Op: "read inventory", Table: s.o.Source, Kind: lake.Damaged,
			Err: fmt.Errorf("%d rows, but the manifest counts %d", total.Rows, s.info.Rows), Hint: "Fetch the inventory again, or take an older one; nothing was deleted."}
	}
	if r.Replay != nil {
		deleted, err := r.Replay.Finish()
		if total.Deleted += deleted; err != nil {
			return total, err
		}
	}
	s.o.Observer.Emit(lake.Event{Stage: "inventory", Done: done.Load(), Expected: expected, Finished: true})
	return total, nil
}

func (s *Source) readParts(ctx context.Context, r rowset.Run) error {
	files := min(s.o.Workers, max(len(s.parts), 1))
	within := (s.o.Workers + files - 1) / files
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(files)
	for i := range s.parts {
		g.Go(func() error { return s.form.ReadPart(ctx, &s.parts[i], within, r) })
	}
	return g.Wait()
}

// Scan is Rows and Resolve in one: it hands on what the list shows of each of
// r's roots. emit is called by several goroutines at once.
func (s *Source) Scan(ctx context.Context, r *Resolver, emit func(root int, objects []store.Info) error) (Counts, error) {
	return s.rows(ctx, r.Needed, func(rows []Row) error { return r.Resolve(rows, emit) })
}
