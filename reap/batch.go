package reap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// maxMisses is how many delete requests in a row may fail as a whole, or for
// every one of many objects, before the run gives up: the store is gone, or
// nothing may be deleted there.
const maxMisses = 3

// item is a row on its way to its end.
type item struct {
	v       lake.Verdict
	file    *item // of a checksum: the file that it goes with
	size    int64 // bytes, as far as known by now; -1 if unknown
	target  store.Target
	place   Place
	outcome string
	err     error
}

// left reports whether the object is no longer in its place.
func (it *item) left() bool {
	return it.outcome == filelist.Deleted || it.outcome == filelist.Gone || it.outcome == filelist.Quarantined
}

// execute carries out one batch: looks at what has to be looked at, journals
// the intent, deletes or moves, journals the outcome, tells the recorder.
// An error ends the run; what failed for one object is in its outcome.
func (r *run) execute(ctx context.Context, rows []lake.Verdict) error {
	items := make([]item, len(rows))
	for i, v := range rows {
		items[i] = item{v: v, size: max(v.Size, -1), place: r.job.Place, target: store.Target{Name: string(v.Key)}}
		if v.URI != "" {
			var err error
			if items[i].place, items[i].target.Name, err = r.o.Blob(ctx, v.URI); err != nil {
				items[i].outcome, items[i].err = filelist.Failed, err
			}
		}
	}
	r.inspect(ctx, items)
	var open []*item
	for i := range items {
		if items[i].outcome == "" {
			open = append(open, &items[i])
		}
	}
	checksums := r.checksums(ctx, open)
	if err := r.job.Journal.Append(ctx, r.records(filelist.RecordIntent, append(open, checksums...))...); err != nil {
		return err
	}
	r.remove(ctx, open)
	if r.o.AllVersions {
		r.purgeVersions(ctx, items)
	}
	checksums = orphaned(checksums)
	r.remove(ctx, checksums)
	return r.settleBatch(ctx, items, checksums)
}

// remove deletes the objects, or moves them to quarantine.
func (r *run) remove(ctx context.Context, open []*item) {
	if r.o.Quarantine != nil {
		open = r.move(ctx, open)
	}
	r.delete(ctx, open)
}

// delete deletes in requests as large as the store takes.
func (r *run) delete(ctx context.Context, open []*item) {
	for len(open) > 0 {
		n := 1
		for n < len(open) && n < open[0].place.Traits().DeleteBatch && open[n].place == open[0].place {
			n++
		}
		r.request(ctx, open[0].place, open[:n])
		open = open[n:]
	}
}

// request makes one delete request.
func (r *run) request(ctx context.Context, place Place, items []*item) {
	fail := func(err error) {
		for _, it := range items {
			it.outcome, it.err = filelist.Failed, err
		}
	}
	if err := r.brake(); err != nil {
		fail(err)
		return
	}
	targets := make([]store.Target, len(items))
	for i, it := range items {
		targets[i] = it.target
	}
	outcomes, err := place.Delete(ctx, targets)
	if err == nil && len(outcomes) != len(targets) {
		err = fmt.Errorf("%d outcomes for %d objects: %w", len(outcomes), len(targets), store.ErrTruncated)
	}
	if err != nil {
		r.missed(err)
		fail(err)
		return
	}
	r.answered(items, outcomes)
	if allFailed := !slices.ContainsFunc(items, func(it *item) bool { return it.outcome != filelist.Failed }); allFailed && len(items) >= minBatch {
		r.missed(items[0].err)
	} else {
		r.missed(nil)
	}
}

// answered takes down what the store says of each object. One is deleted only
// if the store says so.
func (r *run) answered(items []*item, outcomes []store.Outcome) {
	for i, it := range items {
		switch err := outcomes[i].Err; {
		case outcomes[i].Target.Name != it.target.Name:
			it.outcome, it.err = filelist.Failed, fmt.Errorf("the store answered for %q", outcomes[i].Target.Name)
		case err == nil:
			it.outcome = filelist.Deleted
			if r.o.Quarantine != nil {
				it.outcome = filelist.Quarantined
			}
		case errors.Is(err, fs.ErrNotExist):
			it.outcome = filelist.Gone
			if r.o.Quarantine != nil {
				it.outcome = filelist.Quarantined // the copy was made, by us
			}
		case errors.Is(err, store.ErrChanged):
			it.outcome = filelist.Spared
		default:
			it.outcome, it.err = filelist.Failed, err
		}
	}
}

// brake fails once several requests in a row failed as a whole.
func (r *run) brake() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *run) missed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.misses = 0
		return
	}
	if r.misses++; r.misses >= maxMisses && r.err == nil {
		kind := lake.KindOf(err)
		r.err = r.error(kind, fmt.Errorf("%d delete requests in a row failed: %w", r.misses, err), lake.HintOf(err))
	}
}

// settleBatch journals what became of a batch, then tells the recorder, then counts.
func (r *run) settleBatch(ctx context.Context, items []item, checksums []*item) error {
	all := make([]*item, len(items), len(items)+len(checksums))
	var left []lake.Key
	for i := range items {
		all[i] = &items[i]
		if items[i].left() {
			left = append(left, identity(items[i].v.Key, items[i].v.URI))
		}
	}
	all = append(all, checksums...)
	if err := r.job.Journal.Append(ctx, r.records(filelist.RecordOutcome, all)...); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range items {
		r.settleLocked(&items[i])
		if o := items[i].outcome; o != filelist.Deleted && o != filelist.Quarantined {
			r.unspend(&items[i].v)
		}
	}
	r.o.Observe.Emit(lake.Event{Stage: r.stage(), Done: r.seen, Expected: r.head.Totals.Dead})
	if len(left) == 0 {
		return nil
	}
	return r.job.Recorder.Confirm(ctx, left)
}

func (r *run) records(kind string, items []*item) []filelist.Record {
	now := r.o.Now()
	records := make([]filelist.Record, len(items))
	for i, it := range items {
		records[i] = filelist.Record{Type: kind, At: now, Key: it.v.Key, URI: it.v.URI, Directory: it.v.Directory,
			Checksum: it.file != nil, Size: it.size, Reason: it.v.Reason}
		if kind == filelist.RecordOutcome {
			records[i].Outcome = it.outcome
			if it.err != nil {
				records[i].Error = it.err.Error()
			}
		}
	}
	return records
}

// settle counts the end of a row that no batch held.
func (r *run) settle(v *lake.Verdict, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleLocked(&item{v: *v, size: v.Size, outcome: outcome})
}

// settleLocked counts a row's end and tells whoever wants to know.
func (r *run) settleLocked(it *item) {
	v := &it.v
	r.tally(it.outcome, v.Directory, max(it.size, 0))
	if !v.Directory {
		r.seen++
	}
	o := Outcome{Key: v.Key, URI: v.URI, Directory: v.Directory, Size: it.size, Reason: v.Reason, Outcome: it.outcome, Err: it.err}
	if it.outcome == filelist.Failed && len(r.result.Failures) < keptFailures {
		r.result.Failures = append(r.result.Failures, o)
	}
	if r.o.Outcome != nil {
		r.o.Outcome(o)
	}
}

// tally counts an outcome.
func (r *run) tally(outcome string, directory bool, size int64) {
	res := &r.result
	switch {
	case outcome == filelist.Failed:
		res.Failed++
	case outcome == filelist.Skipped:
		res.Skipped++
	case outcome == filelist.Spared:
		res.Spared++
	case outcome == filelist.Gone:
		res.Gone++
	case directory:
		res.Directories++
	case outcome == filelist.Deleted:
		res.Deleted++
		res.Bytes += size
	case outcome == filelist.Quarantined:
		res.Quarantined++
		res.Moved += size
	}
}
