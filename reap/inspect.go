package reap

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// statsAtOnce bounds the stats of one batch that run at the same time.
const statsAtOnce = 16

// inspect looks at the objects that can't be deleted on condition, where the
// plan doesn't know them well enough or is too old, and settles those that are
// gone, changed or young; what is young by the plan itself is spared unseen. It fills in the condition of the others.
//
// Source: docs/architecture.md, law L6; design/product.md, "Inventories".
func (r *run) inspect(ctx context.Context, items []item) {
	slots := make(chan struct{}, statsAtOnce)
	var stats sync.WaitGroup
	for i := range items {
		it := &items[i]
		if it.outcome != "" {
			continue
		}
		if !it.v.Modified.IsZero() && r.young(&it.v, it.v.Modified, it.place) {
			it.outcome = filelist.Spared // LITE goes by the log's times: somebody has written the name again
			continue
		}
		if t := it.place.Traits(); t.IfMatch {
			it.target.IfMatch = it.v.ETag
		}
		if !r.mustStat(it) {
			continue
		}
		slots <- struct{}{}
		stats.Go(func() {
			defer func() { <-slots }()
			r.look(ctx, it)
		})
	}
	stats.Wait()
}

// mustStat reports whether an object has to be looked at before it dies. The
// tag in an inventory doesn't spare the look where it only follows from the
// bytes: the same may have been written again since, by somebody who needs them.
func (r *run) mustStat(it *item) bool {
	unconditional := it.target.IfMatch == "" || r.head.Source != "" && it.place.Traits().ContentTags
	aged := r.o.Now().Sub(r.head.Created) > agedAfter
	switch {
	case r.o.Quarantine != nil:
		return true // a copy is only taken of what was planned
	case byPolicy(it.v.Reason):
		return unconditional && aged
	}
	return it.v.Modified.IsZero() || unconditional && (aged || r.hearsay() || it.v.Reason == lake.ExpiredBlob)
}

// byPolicy reports whether the format's policy let an object go, by its name
// alone: its age and size play no part.
func byPolicy(reason lake.Reason) bool {
	return reason == lake.ExpiredSlice || reason == lake.ReplacedGroup || reason == lake.DeadPartition
}

// hearsay reports whether the plan's sizes and times come from somebody else
// than the store: an inventory or the log.
func (r *run) hearsay() bool { return r.head.Source != "" || r.head.Mode == "lite" }

// look stats an object and decides.
func (r *run) look(ctx context.Context, it *item) {
	now, err := it.place.Stat(ctx, it.target.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.absent(ctx, it)
		return
	case err != nil:
		it.outcome, it.err = filelist.Failed, err
		return
	case now.Kind != store.File, now.Modified.IsZero(), r.young(&it.v, now.Modified, it.place), !r.hearsay() && changed(&it.v, now):
		it.outcome = filelist.Spared
		return
	}
	it.size = max(now.Size, -1)
	if it.target.IfMatch == "" && it.place.Traits().IfMatch {
		it.target.IfMatch = now.ETag
	}
}

// young reports whether an object that is judged by its age isn't old enough.
func (r *run) young(v *lake.Verdict, modified time.Time, p Place) bool {
	if byPolicy(v.Reason) || v.Reason == lake.ExpiredBlob {
		return false
	}
	return !modified.Before(r.head.Cutoff) || modified.Add(p.Traits().ClockGrain).After(r.head.Cutoff)
}

// changed reports whether an object isn't the one that was planned. Listings
// and stats of one store may differ in precision, to a second.
func changed(v *lake.Verdict, now store.Info) bool {
	return v.Size >= 0 && now.Size != v.Size ||
		!v.Modified.IsZero() && now.Modified.Sub(v.Modified).Abs() >= time.Second ||
		v.ETag != "" && now.ETag != "" && v.ETag != now.ETag
}
