package blobs

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Opening is what carrying out the blobs of a plan takes.
type Opening struct {
	Plan  *plan.Plan
	Own   *Table      // the plan's; its Request and Maps are taken from the plan
	Store store.Store // opened at the table's root
	Meta  store.MetaWriter
	Lock  lock.Provider
	Alone bool // the user vouches that nobody else writes
	Wait  bool // until the blobs that the run queues are due, whatever the plan says
}

// Clean is the clean of the plan's file slices.
type Clean interface {
	// Published reports whether it stood on the timeline at the last look.
	Published() bool
}

// Around says which clean the run goes around.
func (r *Run) Around(c Clean) { r.clean = c }

// Run carries out what a plan says of external blobs, around the clean of
// the slices. It implements cleanrun.BlobRecord.
//
// Source: design/blob-safety.md, "Protocol".
type Run struct {
	o      Opening
	head   filelist.Head
	state  *State
	clean  Clean
	names  *lake.BlobNames
	judge  *judge
	own    *judged
	also   []lake.Root // all names of the others
	places *places
	queue  *blobqueue.Queue

	fresh   *filelist.Sorter // blobs that this clean lets go
	sidecar []byte           // of these, nil for none
	queued  time.Time        // when the last of them was queued
	started time.Time        // this run
	sum     reap.Result      // of the drains
	waiting int64            // blobs in the queue after the run
	held    time.Duration    // under the lock
	count   int64            // blobs in fresh
}

// Open opens what carrying out the blobs of a plan takes: the other tables that
// share them, and the places in which they may die.
//
// Errors: those of the tables and the stores; Invalid, Refused for a place.
func Open(ctx context.Context, s *State, o Opening) (*Run, error) {
	h := o.Plan.Head()
	r := &Run{o: o, head: h, state: s}
	s.Wait = s.Wait || o.Wait
	request, err := s.request()
	if err != nil {
		return nil, err
	}
	tables := []*Table{o.Own}
	for _, other := range s.Also {
		t, err := o.Own.Open(ctx, other)
		if err != nil {
			return nil, err
		}
		tables, r.also = append(tables, t), append(append(r.also, t.Root), t.Aliases...)
	}
	r.judge = &judge{}
	for _, t := range tables {
		j, err := judgedTable(t, request, s, r.also)
		if err != nil {
			return nil, err
		}
		r.judge.tables = append(r.judge.tables, j)
	}
	r.own = r.judge.tables[0]
	r.names = r.own.names
	if r.places, err = openPlaces(ctx, o.Own.Stores, r.names, request.Roots); err != nil {
		return nil, err
	}
	if err := r.places.ask(ctx, o.Own.Now); err != nil {
		return nil, err
	}
	r.queue = blobqueue.New(o.Store, o.Meta, func() string { return h.PlanID + "-" + strings.ToLower(rand.Text()[:8]) }, blobqueue.Tuning{})
	r.fresh = filelist.NewSorter("", o.Own.Memory/8)
	return r, nil
}

func judgedTable(t *Table, request Request, s *State, others []lake.Root) (*judged, error) {
	t.Request, t.Maps = request, s.Maps
	if s.Parallelism > 0 {
		t.Config.Parallelism = s.Parallelism
	}
	names, err := t.names(others)
	if err == nil {
		err = t.Hudi.Whole()
	}
	return &judged{table: t, names: names}, err
}

// Queued is how many blobs wait in the queue after Run.
func (r *Run) Queued() int64 { return r.waiting }

// LockHeld is how long the table's lock was held to look at blobs.
func (r *Run) LockHeld() time.Duration { return r.held }

// Versioned reports whether deletes leave old versions in one of the roots.
func (r *Run) Versioned() bool { return r.places.versioned() }

// Run drains what is due, queues what the clean lets go, cleans the slices,
// and drains again if nothing is to be waited for, or it was. A limit holds for
// all of it.
func (r *Run) Run(ctx context.Context, job reap.Job, o reap.Options) (result reap.Result, err error) {
	defer func() { err = errors.Join(err, r.fresh.Close()) }()
	r.started = r.o.Own.Now()
	if err := job.Guardian.Refresh(ctx); err != nil {
		return result, err
	}
	if err := r.prepare(ctx); err != nil {
		return result, err
	}
	earlier, err := resumed(ctx, job.Journal)
	if err != nil {
		return result, err
	}
	result, err = r.run(ctx, job, o)
	result.Resumed = earlier
	// What waits is told, whatever ended the run.
	snap, lerr := r.queue.Load(context.WithoutCancel(ctx))
	if lerr == nil {
		r.waiting = snap.Meta.Entries
	}
	return result, errors.Join(err, lerr)
}

func (r *Run) run(ctx context.Context, job reap.Job, o reap.Options) (result reap.Result, err error) {
	// What can't be deleted stays queued, and is told in the end.
	later := r.drain(ctx, job, o, func(v *lake.Verdict) bool { return v.DueAt.Before(r.head.Created) })
	if later != nil && lake.KindOf(later) != lake.Partial {
		return r.with(result), later
	}
	if err := r.enqueue(ctx); err != nil {
		return r.with(result), gravest(err, later)
	}
	rest, limit := r.rest(o, reap.Result{})
	if limit != "" {
		return r.with(reap.Result{Limit: limit}), gravest(r.limited(limit, "the slices are left"), later)
	}
	if result, err = reap.Run(ctx, job, rest); err == nil && r.count > 0 {
		if r.state.Wait || r.o.Alone && r.state.Grace == 0 {
			result.Limit, err = r.waited(ctx, job, o, result)
		} else {
			err = r.tell(o.Outcome)
		}
	}
	return r.with(result), gravest(err, later)
}

// gravest joins how the slices and the blobs of a run ended, the graver first:
// it is the run's own kind (docs/exit-codes.md).
func gravest(err, blobs error) error {
	switch lake.KindOf(err) {
	case lake.Interrupted, lake.Stale, lake.Locked:
		return errors.Join(err, blobs)
	}
	return errors.Join(blobs, err)
}

// resumed counts what earlier runs in a journal did.
func resumed(ctx context.Context, j *filelist.Journal) (n int64, err error) {
	if !j.Resumed() {
		return 0, nil
	}
	records, err := j.Records(ctx)
	if err != nil {
		return 0, err
	}
	for rec, err := range records.Records(ctx) {
		if err != nil {
			return n, err
		}
		if rec.Left() && !rec.Checksum {
			n++
		}
	}
	return n, nil
}

// with adds what the drains did.
func (r *Run) with(clean reap.Result) reap.Result {
	clean.Complete = clean.Complete && r.sum.Failed+r.sum.Skipped == 0 && clean.Limit == ""
	own := clean.Failures // the drain comes first
	clean.Failures = nil
	clean.Add(r.sum)
	clean.Failures = append(clean.Failures, own...)
	return clean
}

// keepArtifacts is how long sidecars and intents without use are kept.
const keepArtifacts = 24 * time.Hour

// prepare claims the roots and sweeps what earlier runs left.
func (r *Run) prepare(ctx context.Context) error {
	me := blobqueue.Claimer{Table: r.o.Own.Root.String(), ID: r.o.Own.Hudi.ID(), Since: r.places.earliest(r.o.Own.Now()).UTC(), Tool: r.o.Own.Tool}
	if err := r.places.emptied(ctx, me, r.names, r.queue); err != nil {
		return err
	}
	if err := r.places.claim(ctx, me, r.also); err != nil {
		return err
	}
	tl := r.o.Own.Hudi.Timeline()
	_, young, err := blobqueue.Sweep(ctx, r.o.Store, r.o.Meta, tl, r.now(), keepArtifacts)
	if err != nil || !young {
		return err
	}
	lease, err := r.o.Lock.Acquire(ctx)
	if err != nil {
		return err
	}
	if tl, err = tl.Reload(ctx); err == nil {
		err = lease.Verify(ctx)
	}
	if err == nil {
		_, err = blobqueue.Withdraw(ctx, r.o.Store, r.o.Meta, tl)
	}
	return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
}

// now is our clock, or the store's if that is behind.
func (r *Run) now() time.Time { return r.o.Own.Clock() }

// drain deletes what is due among some of the plan's rows.
func (r *Run) drain(ctx context.Context, job reap.Job, o reap.Options, take func(*lake.Verdict) bool) error {
	started := r.o.Own.Now()
	o.Quarantine, o.Checksums, o.AllVersions, o.Reserved = nil, false, false, nil
	done, err := drain.Run(ctx, drain.Job{
		Cleared: job.Cleared, Table: r.o.Store, Writer: r.o.Meta, Queue: r.queue, Judge: r.judge, Names: r.names, Open: r.places.open, Lock: r.o.Lock, Journal: job.Journal,
		Fence:   r.judge.fence,
		Hold:    r.judge.held,
		Behind:  r.places.behind,
		Instant: func(ctx context.Context) (string, error) { return r.own.instant(ctx, r.now()) },
	}, drain.Options{
		Grace: time.Duration(r.state.Grace), MinAge: time.Duration(r.state.MinAge), MaxCandidates: int(r.state.MaxCandidates), DryRun: r.state.DryRun, Take: take, Now: r.now, Reap: o,
	})
	r.sum.Add(done.Result)
	r.held += done.LockHeld
	for _, w := range done.Warnings {
		r.o.Own.Log.Warn(w, "table", r.head.Table)
	}
	if done.Judged > 0 {
		r.o.Own.Log.Debug("blobs were judged", "table", r.head.Table, "judged", done.Judged, "deleted", done.Deleted, "alive", done.Spared, "queued", done.Queued, "lock held", done.LockHeld, "took", r.o.Own.Now().Sub(started))
	}
	return err
}

// Publish writes the sidecar before the clean is published.
func (r *Run) Publish(ctx context.Context, instant string, resumed bool) (map[string]string, error) {
	if r.sidecar == nil {
		return nil, nil
	}
	err := blobqueue.WriteSidecar(ctx, r.o.Store, r.o.Meta, instant, r.sidecar)
	if resumed && errors.Is(err, fs.ErrExist) {
		err = nil // the run that published the clean knew more of its slices
	}
	return map[string]string{blobqueue.ExtraPath: blobqueue.SidecarPath(instant)}, err
}

// Stats returns the figures of the drains since the clean before, for the clean
// of an instant to report. It is called under the table's lock.
func (r *Run) Stats(ctx context.Context, instant string, clean timeline.CleanPlan) (*timeline.BlobCleanStats, error) {
	told, err := r.queue.Tell(ctx, r.now(), instant, func(before string) (bool, error) { return r.untold(ctx, before) })
	if err != nil {
		return nil, err
	}
	stats := &timeline.BlobCleanStats{Deleted: told.Deleted, Retained: told.Retained, Bytes: told.Bytes, Failed: told.Failed}
	if path := clean.Extra[blobqueue.ExtraPath]; path != "" {
		stats.Sidecar = &path
	} else if told.IsZero() {
		return nil, nil
	}
	return stats, nil
}

// untold reports that a clean is known not to have reported the figures that a
// run had set out to: it is complete, by somebody who knew nothing of them. One
// that isn't on the timeline was archived or given up, nobody knows which.
func (r *Run) untold(ctx context.Context, clean string) (bool, error) {
	now, err := r.o.Own.Hudi.Timeline().Reload(ctx)
	if err != nil {
		return false, err
	}
	i, ok := now.Find(clean, timeline.Clean)
	if !ok || i.State != timeline.Completed {
		return false, nil
	}
	data, err := now.Read(ctx, i, timeline.Completed)
	if err != nil {
		return false, err
	}
	m, err := timeline.DecodeCleanMetadata(data)
	return err == nil && m.Blobs == nil, nil
}

// tell tells of the blobs that were queued.
func (r *Run) tell(outcome func(reap.Outcome)) error {
	if outcome == nil {
		return nil
	}
	for v, err := range r.fresh.Sorted() {
		if err != nil {
			return err
		}
		outcome(reap.Outcome{URI: v.URI, Size: v.Size, Reason: v.Reason, Outcome: filelist.Queued})
	}
	return nil
}
