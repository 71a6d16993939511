package vacuum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// fromInventory joins one list with the protected sets of all runs, in one
// pass. The runs share the inventory of their requests.
//
// Source: design/product.md "Inventories"; spec/delta-vacuum.md section 5.
func fromInventory(ctx context.Context, runs []*Run) (vs []*verdicts, err error) {
	req := runs[0].req.Inventory
	src, err := inventory.Open(ctx, req.Options)
	if err != nil {
		return nil, err
	}
	roots := make([]lake.Root, len(runs))
	unread := make([][]string, len(runs)) // notes on journals that can't be read
	var joins []*antijoin.Join
	defer func() {
		if err != nil {
			for _, j := range joins {
				err = errors.Join(err, j.Close())
			}
			for _, v := range vs {
				err = errors.Join(err, v.close())
			}
			vs = nil
		}
	}()
	for i, run := range runs {
		roots[i] = run.Root
		run.inventory = src.Info()
		if run.gone, unread[i], err = run.host.Journals.Gone(ctx, run.Root, run.inventory.Taken, req.Journals); err != nil {
			return nil, err
		}
		joins = append(joins, run.join(len(runs)))
	}
	resolver, err := inventory.NewResolver(roots, req.Maps)
	if err != nil {
		return nil, err
	}
	counts, err := src.Scan(ctx, resolver, func(root int, objects []store.Info) error {
		return joins[root].Batch(ctx, objects)
	})
	if err != nil {
		return nil, err
	}
	resolved := resolver.Counts()
	for i, j := range joins {
		result, err := j.Finish(ctx)
		if err != nil {
			return nil, err
		}
		v := &verdicts{rows: result.Dead(), totals: result.Totals, foreign: result.Foreign, close: result.Close}
		v.outside = resolved.Outside
		v.inventoryAge = runs[i].Now.Sub(src.Info().Taken)
		v.notes = slices.Concat(src.Info().Notes, left(counts, resolved), unread[i])
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
