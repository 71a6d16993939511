package vacuum

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// liteStats is how many candidates of LITE are looked at at once.
const liteStats = 32

// lite gathers the verdicts that the log alone gives, sorted.
func (run *Run) lite(ctx context.Context) (*verdicts, error) {
	sorter := filelist.NewSorter("", run.req.Memory/4)
	v := &verdicts{totals: filelist.Totals{ByReason: map[string]filelist.Count{}}, rows: sorter.Sorted(), close: sorter.Close}
	match := func(lake.Key) antijoin.Match { return antijoin.True }
	if run.where != nil {
		match = run.where.Match(run.protected, nil)
	}
	inside, foreign := run.Insides(), map[lake.Key]bool{}
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(liteStats)
	for verdict, err := range run.table.Lite(ctx, run.liteRequest(), run.protected) {
		if err != nil {
			return nil, errors.Join(err, group.Wait(), sorter.Close())
		}
		if !run.rules.Visible(verdict.Key) {
			continue // a full run leaves it alone too
		}
		group.Go(func() error {
			// What an earlier run deleted is named by the log all the same.
			info, err := run.Reader.Stat(gctx, string(verdict.Key))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if info.Kind != store.File {
				return nil
			}
			verdict.Size, verdict.Modified, verdict.ETag = info.Size, info.Modified, info.ETag
			root, theirs, err := inside(gctx, verdict.Key.Dir())
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if theirs {
				foreign[root] = true
				v.totals.Foreign++
				return nil
			}
			v.totals.Candidates++
			switch match(verdict.Key) {
			case antijoin.Unknown:
				v.totals.KeptUnknown++
			case antijoin.False:
				v.totals.Unmatched++
			case antijoin.True:
				v.totals.Count(&verdict)
				return sorter.Add(verdict)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	for _, root := range slices.Sorted(maps.Keys(foreign)) {
		v.foreign = append(v.foreign, string(root))
	}
	return v, nil
}
