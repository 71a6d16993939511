package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/store"
)

// fromInventory joins one list with the protected sets of all runs, in one
// pass. The runs share the inventory of their requests.
//
// Source: design/product.md "Inventories"; spec/delta-vacuum.md section 5.
func (e *Engine) fromInventory(ctx context.Context, runs []*deltaRun) (vs []*verdicts, err error) {
	req := runs[0].req.Inventory
	src, err := inventory.Open(ctx, inventory.Options{Source: req.Source, Columns: req.Columns, Taken: req.Taken,
		SQL: req.SQL, Engine: e.Query, Stores: e.Stores, Now: e.Now, Workers: runs[0].req.Tuning.Workers, Observer: e.Observe})
	if err != nil {
		return nil, err
	}
	roots, maps := make([]lake.Root, len(runs)), make([]inventory.Map, len(req.Maps))
	for i, m := range req.Maps {
		maps[i] = inventory.Map(m)
	}
	scans := make([]*scan, len(runs))
	defer func() {
		if err != nil {
			for _, s := range scans {
				if s != nil {
					err = errors.Join(err, s.join.Close())
				}
			}
		}
	}()
	for i, run := range runs {
		roots[i] = run.root
		run.inventory = src.Info()
		if scans[i], err = e.newScan(ctx, run); err != nil {
			return nil, err
		}
	}
	resolver, err := inventory.NewResolver(roots, maps)
	if err != nil {
		return nil, err
	}
	counts, err := src.Scan(ctx, resolver, func(root int, objects []store.Info) error {
		return scans[root].batch(ctx, objects)
	})
	if err != nil {
		return nil, err
	}
	for i, s := range scans {
		v, err := s.finish(ctx)
		if err != nil {
			return nil, err
		}
		resolved := resolver.Counts()
		v.outside = resolved.Outside
		v.inventoryAge = runs[i].now.Sub(src.Info().Taken)
		v.notes = append(src.Info().Notes, left(counts, resolved)...)
		vs = append(vs, v)
	}
	return vs, nil
}

// left says which rows of a list were left out.
func left(c inventory.Counts, r inventory.Resolved) (notes []string) {
	for _, n := range []struct {
		rows int64
		what string
	}{
		{c.OldVersions, "rows for old versions"}, {c.Deleted, "rows for deleted objects"}, {c.Undecodable, "rows whose name can't be decoded"},
		{c.UnknownTimes, "rows without a plausible time"}, {r.Odd, "rows with '.' or '..' in their name"},
	} {
		if n.rows > 0 {
			notes = append(notes, fmt.Sprintf("the inventory has %d %s", n.rows, n.what))
		}
	}
	return notes
}

// scan feeds the rows of a list below one table's root to its anti-join: each
// object once, and none that a journal knows to be gone. Safe for concurrent use.
type scan struct {
	run    *deltaRun
	join   *antijoin.Join
	gone   vanished        // left by runs since the list was taken
	dead   *keyset.Builder // unprotected objects seen
	mu     sync.Mutex
	newest map[lake.Key]time.Time // of objects that came again with another time
}

func (e *Engine) newScan(ctx context.Context, run *deltaRun) (*scan, error) {
	gone, err := e.journaled(ctx, run)
	if err != nil {
		return nil, err
	}
	return &scan{run: run, join: e.join(run), gone: gone, dead: keyset.New(), newest: map[lake.Key]time.Time{}}, nil
}

// batch passes on the first row of each object. A further row can only make it younger.
func (s *scan) batch(ctx context.Context, objects []store.Info) error {
	kept := make([]store.Info, 0, len(objects))
	for _, o := range objects {
		k := lake.Listed(o.Name)
		switch {
		case s.gone.Has(k):
			continue
		case s.run.protected.Set.Has(k):
			if s.run.protected.Set.Seen(k) {
				continue
			}
		case o.Kind == store.File && !s.dead.AddNew(k):
			s.again(k, o.Modified)
			continue
		}
		kept = append(kept, o)
	}
	return s.join.Batch(ctx, kept)
}

func (s *scan) again(k lake.Key, modified time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.newest[k]; !ok || modified.After(have) {
		s.newest[lake.Key(append([]byte(nil), k...))] = modified
	}
}

// finish ends the join and takes out what a repeated row shows to be young.
func (s *scan) finish(ctx context.Context) (*verdicts, error) {
	result, err := s.join.Finish(ctx)
	if err != nil {
		return nil, err
	}
	v := &verdicts{rows: result.Dead(), totals: result.Totals, foreign: result.Foreign, close: s.join.Close}
	young := func(d *lake.Verdict) bool {
		at, ok := s.newest[d.Key]
		return ok && (!at.Before(s.run.cutoff) || at.After(s.run.inventory.Taken))
	}
	all := v.rows
	for d, err := range all {
		if err != nil {
			return nil, err
		}
		if young(&d) {
			uncount(&v.totals, &d)
		}
	}
	v.rows = func(yield func(lake.Verdict, error) bool) {
		for d, err := range all {
			if (err != nil || !young(&d)) && !yield(d, err) {
				return
			}
		}
	}
	return v, nil
}
