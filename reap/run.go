package reap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/table"
)

// run is the state of one Run.
type run struct {
	job  Job
	o    Options
	head filelist.Head
	done *keyset.Set // what earlier runs in the journal did; nil if there were none
	kept *keyset.Set // of it, what was restored since; nil as done

	started   time.Time
	refreshed time.Time // when the guardian last read the log
	dirs      []lake.Verdict
	touched   map[lake.Key]bool // directories in which a run of this plan removed a directory

	mu     sync.Mutex // guards what follows
	result Result
	seen   int64 // rows settled
	spent  budget
	misses int   // whole requests in a row that failed
	err    error // the first error of a batch
}

func newRun(ctx context.Context, job Job, o Options) (*run, error) {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.BatchSize <= 0 {
		o.BatchSize = max(job.Place.Traits().DeleteBatch, minBatch)
	}
	if o.DeleteRate > 0 {
		underWay := max(int(o.DeleteRate*drainWithin.Seconds()), 1)
		o.Workers = min(o.Workers, underWay)
		o.BatchSize = min(o.BatchSize, underWay/o.Workers)
	}
	if o.RefreshEvery <= 0 {
		o.RefreshEvery = refreshEvery
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &run{job: job, o: o, head: job.Cleared.Plan().Head(), touched: make(map[lake.Key]bool)}
	r.started = o.Now()
	if o.Quarantine != nil {
		if err := o.Quarantine.check(r.head.Table); err != nil {
			return nil, err
		}
	}
	if o.AllVersions && (!job.Place.Traits().Versions || o.Quarantine != nil) {
		return nil, r.error(lake.Invalid, errors.New("versions can be deleted only in a store that lists them, and not together with a quarantine"),
			"Leave --all-versions out.")
	}
	if job.Journal.Head().PlanID != r.head.PlanID {
		return nil, r.error(lake.Internal, fmt.Errorf("the journal is of plan %s", job.Journal.Head().PlanID), "")
	}
	return r, r.recall(ctx)
}

// recall reads what earlier runs in the journal did. An object that was moved
// and restored since is kept: somebody wants it.
func (r *run) recall(ctx context.Context) error {
	if !r.job.Journal.Resumed() {
		return nil
	}
	done, kept := keyset.New(), keyset.New()
	for rec, err := range r.past(ctx) {
		if err != nil {
			return err
		}
		if rec.Outcome == filelist.Restored {
			kept.Add(rec.Key)
		}
	}
	r.kept = kept.Done()
	for rec, err := range r.past(ctx) {
		if err != nil {
			return err
		}
		if !rec.Left() || rec.Checksum || r.kept.Has(rec.Key) || r.others(rec.URI) {
			continue
		}
		done.Add(identity(rec.Key, rec.URI))
		r.tally(rec.Outcome, rec.Directory, max(rec.Size, 0))
		r.result.Resumed++
		if rec.Directory {
			r.touched[rec.Key.Dir()] = true
		}
	}
	r.done = done.Done()
	res := &r.result
	res.earlier = counts{res.Deleted, res.Gone, res.Directories, res.Quarantined, res.Bytes, res.Moved}
	return nil
}

// past yields the records of earlier runs.
func (r *run) past(ctx context.Context) iter.Seq2[filelist.Record, error] {
	return func(yield func(filelist.Record, error) bool) {
		j, err := r.job.Journal.Records(ctx)
		if err != nil {
			yield(filelist.Record{}, err)
			return
		}
		j.Records(ctx)(yield)
	}
}

// others reports whether a record, or a row, is of objects that are no concern
// of this run.
func (r *run) others(uri string) bool {
	return r.o.Only != nil && (uri != "") != (r.o.Blob != nil)
}

// identity is a row's own name among keys and URIs.
func identity(k lake.Key, uri string) lake.Key { return k + lake.Key(uri) }

// begin announces the run: the plan must still fit the log.
func (r *run) begin(ctx context.Context) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	t := r.head.Totals
	intent := table.Intent{PlanID: r.head.PlanID, Objects: t.Dead, Bytes: t.DeadBytes, Where: r.head.Where, Version: r.head.Version}
	intent.Idle = t.Dead+t.DeadDirectories == 0
	intent.Done = !intent.Idle && r.done != nil && r.done.Len() >= t.Dead+t.DeadDirectories
	if err := r.job.Recorder.Begin(ctx, intent); err != nil {
		return err
	}
	r.refreshed = time.Time{} // announcing took its time: read the log again before the first batch
	return r.reconfirm(ctx)
}

// reconfirm tells the recorder what earlier runs did.
func (r *run) reconfirm(ctx context.Context) error {
	if r.done == nil {
		return nil
	}
	var keys []lake.Key
	for rec, err := range r.past(ctx) {
		if err != nil {
			return err
		}
		if rec.Left() && !rec.Checksum && !rec.Directory && !r.kept.Has(rec.Key) && !r.others(rec.URI) {
			keys = append(keys, identity(rec.Key, rec.URI))
		}
		if len(keys) == r.o.BatchSize {
			if err := r.job.Recorder.Confirm(ctx, keys); err != nil {
				return err
			}
			keys = keys[:0:0]
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return r.job.Recorder.Confirm(ctx, keys)
}

// refresh lets the guardian read the log's tail, unless it just did.
func (r *run) refresh(ctx context.Context) error {
	if t := r.o.Now(); t.Sub(r.refreshed) >= r.o.RefreshEvery || t.Before(r.refreshed) {
		if err := r.job.Guardian.Refresh(ctx); err != nil {
			return err
		}
		r.refreshed = r.o.Now()
	}
	return nil
}

// finish closes the run in the format's log and says how it ended. cause is
// why it ended early, if it did.
func (r *run) finish(ctx context.Context, cause error) (Result, error) {
	res := &r.result
	res.Complete = cause == nil && res.Failed == 0 && res.Skipped == 0
	recorded := res.Result
	recorded.Deleted += res.Quarantined
	recorded.Bytes += res.Moved
	// A signal doesn't stop the record of what was done.
	ctx = context.WithoutCancel(ctx)
	end := r.job.Recorder.Fail
	if res.Complete {
		end = r.job.Recorder.Complete
	}
	if err := end(ctx, recorded); err != nil {
		res.Complete = false
		return *res, errors.Join(cause, err)
	}
	r.o.Observe.Emit(lake.Event{Stage: r.stage(), Done: r.seen, Expected: r.head.Totals.Dead, Finished: true})
	switch {
	case cause != nil && !errors.Is(cause, errLimit):
		return *res, cause
	case res.Failed > 0:
		return *res, r.error(lake.Partial, fmt.Errorf("%d objects were not deleted, the first: %w", res.Failed, res.Failures[0].Err),
			"Apply the same plan with the same journal again; it goes on with what is left.")
	case res.Limit != "":
		return *res, r.error(lake.Limit, fmt.Errorf("%s was reached, %d objects are left", res.Limit, res.Skipped),
			"Apply the same plan with the same journal again; it goes on with what is left.")
	}
	return *res, nil
}

func (r *run) stage() string {
	if r.o.Blob != nil {
		return "delete_blobs"
	}
	return "delete"
}

func (r *run) error(kind lake.Kind, err error, hint string) error {
	return &lake.Error{Op: "apply", Table: r.head.Table, Kind: kind, Err: err, Hint: hint}
}

func (r *run) interrupted(err error) error {
	kind := lake.Interrupted
	if errors.Is(err, context.DeadlineExceeded) {
		kind = lake.Limit
	}
	r.mu.Lock()
	seen := r.seen
	r.mu.Unlock()
	return r.error(kind, fmt.Errorf("stopped after %d objects: %w", seen, err), "Apply the same plan with the same journal again; it goes on with what is left.")
}
