package reap

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// directories removes the plan's empty directories, deepest first, each only
// if it still is what was planned. They are held in memory: keys and times.
func (r *run) directories(ctx context.Context) error {
	for batch := range slices.Chunk(deepestFirst(r.dirs), r.o.BatchSize) {
		if err := ctx.Err(); err != nil {
			return r.interrupted(err)
		}
		if err := r.refresh(ctx); err != nil {
			return err
		}
		if err := r.removeDirectories(context.WithoutCancel(ctx), batch); err != nil {
			return err
		}
	}
	return nil
}

// deepestFirst orders keys so that what lies in a directory comes before it.
func deepestFirst(dirs []lake.Verdict) []lake.Verdict {
	slices.SortFunc(dirs, func(a, b lake.Verdict) int {
		if a.Key < b.Key {
			return 1
		}
		return -1
	})
	return dirs
}

func (r *run) removeDirectories(ctx context.Context, batch []lake.Verdict) error {
	items := make([]item, len(batch))
	all := make([]*item, len(batch))
	for i, v := range batch {
		items[i] = item{v: v, size: -1, place: r.job.Place}
		all[i] = &items[i]
	}
	if err := r.job.Journal.Append(ctx, r.records(filelist.RecordIntent, all)...); err != nil {
		return err
	}
	for _, it := range all {
		if r.job.Guardian.Protected(it.v.Key) {
			it.outcome = filelist.Spared
			continue
		}
		r.removeDirectory(ctx, it)
	}
	if err := r.job.Journal.Append(ctx, r.records(filelist.RecordOutcome, all)...); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range all {
		r.settleLocked(it)
	}
	return nil
}

// removeDirectory removes one directory. Its time must be the planned one, for
// somebody may be about to fill it; unless we changed it ourselves, by removing
// a directory in it, now or in an earlier run, or the format let it go with the
// files that were in it.
func (r *run) removeDirectory(ctx context.Context, it *item) {
	name := string(it.v.Key)
	now, err := r.job.Place.Stat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		it.outcome = filelist.Gone
		return
	case err != nil:
		it.outcome, it.err = filelist.Failed, err
		return
	case now.Kind != store.Dir && now.Kind != store.Marker, !r.touched[it.v.Key] && !byPolicy(it.v.Reason) && !now.Modified.Equal(it.v.Modified):
		it.outcome = filelist.Spared
		return
	}
	switch err := r.job.Place.DeleteDir(ctx, name); {
	case err == nil:
		it.outcome = filelist.Deleted
		r.touched[it.v.Key.Dir()] = true
	case errors.Is(err, fs.ErrNotExist):
		it.outcome = filelist.Gone
	case errors.Is(err, fs.ErrExist):
		it.outcome = filelist.Spared // somebody filled it
	default:
		it.outcome, it.err = filelist.Failed, err
	}
}
