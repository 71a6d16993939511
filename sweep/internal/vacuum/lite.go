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
	j := &liteJudge{run: run, v: v, dead: sorter, match: func(lake.Key) antijoin.Match { return antijoin.True }, inside: run.Insides(), foreign: map[lake.Key]bool{}}
	if run.where != nil {
		j.match = run.where.Match(run.protected, nil)
	}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(liteStats)
	for verdict, err := range run.table.Lite(ctx, run.liteRequest(), run.protected) {
		if err != nil {
			return nil, errors.Join(err, group.Wait(), sorter.Close())
		}
		if !run.rules.Visible(verdict.Key) {
			continue // a full run leaves it alone too
		}
		group.Go(func() error { return j.judge(gctx, verdict) })
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	for _, root := range slices.Sorted(maps.Keys(j.foreign)) {
		v.foreign = append(v.foreign, string(root))
	}
	return v, nil
}

// liteJudge looks at the candidates that the log names. Safe for concurrent use.
type liteJudge struct {
	run    *Run
	match  func(lake.Key) antijoin.Match
	inside func(ctx context.Context, dir lake.Key) (root lake.Key, ok bool, err error)

	mu      sync.Mutex
	v       *verdicts
	dead    *filelist.Sorter
	foreign map[lake.Key]bool
}

func (j *liteJudge) judge(ctx context.Context, verdict lake.Verdict) error {
	// What an earlier run deleted is named by the log all the same.
	info, err := j.run.Reader.Stat(ctx, string(verdict.Key))
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
	root, theirs, err := j.inside(ctx, verdict.Key.Dir())
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if theirs {
		j.foreign[root] = true
		j.v.totals.Foreign++
		return nil
	}
	j.v.totals.Candidates++
	switch j.match(verdict.Key) {
	case antijoin.Unknown:
		j.v.totals.KeptUnknown++
	case antijoin.False:
		j.v.totals.Unmatched++
	case antijoin.True:
		j.v.totals.Count(&verdict)
		return j.dead.Add(verdict)
	}
	return nil
}
