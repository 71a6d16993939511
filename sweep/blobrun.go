package sweep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
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

// blobRun carries out what a plan says of external blobs, around the clean of
// the slices. It implements hudi.BlobRecord.
//
// Source: design/blob-safety.md, "Protocol".
type blobRun struct {
	e      *Engine
	plan   *plan.Plan
	head   filelist.Head
	state  *blobState
	names  *lake.BlobNames
	judge  *blobJudge
	own    *judged
	also   []lake.Root
	places *blobPlaces
	table  store.Store
	meta   store.MetaWriter
	queue  *blobqueue.Queue
	lock   lock.Provider
	alone  bool // the user vouches that nobody else writes

	fresh   *filelist.Sorter // blobs that this clean lets go
	sidecar []byte           // of these, nil for none
	told    blobqueue.Stats  // figures that the completed clean reports
	queued  time.Time        // when they were queued
	sum     reap.Result      // of the drains
	stay    int64            // blobs that stay queued
	held    time.Duration    // under the lock
	count   int64            // blobs in fresh
	drained bool             // those that were queued were drained too
}

// openBlobRun opens what carrying out the blobs of a plan takes, nil if it
// leaves them alone.
func (e *Engine) openBlobRun(ctx context.Context, p *plan.Plan, h *filelist.Head, at *place, all store.Store, meta store.MetaWriter, req ApplyRequest) (*blobRun, error) {
	state, err := readBlobState(h)
	if err != nil || state == nil {
		return nil, err
	}
	if req.Quarantine != "" || req.Trash || req.AllVersions != "" {
		return nil, invalid(h.Given, "--blobs delete goes with neither --quarantine, --trash nor --all-versions", "Give one of them, or clean the slices and the blobs in two runs.")
	}
	b := &blobRun{e: e, plan: p, head: *h, state: state, table: all, meta: meta, alone: h.State[stateVouch] == "true"}
	b.state.Wait = b.state.Wait || req.BlobsWait
	wish, err := state.request(h.Table, h.State[stateZone], req.Tuning)
	if err != nil {
		return nil, err
	}
	if b.own, err = e.judgedTable(ctx, at, wish, state); err != nil {
		return nil, err
	}
	b.names = b.own.names
	b.judge = &blobJudge{tables: []*judged{b.own}}
	for _, other := range state.Also {
		place, err := e.open(ctx, other)
		if err != nil {
			return nil, err
		}
		wish.Table = other
		t, err := e.judgedTable(ctx, place, wish, state)
		if err != nil {
			return nil, err
		}
		b.judge.tables = append(b.judge.tables, t)
		b.also = append(b.also, place.root)
	}
	if b.places, err = e.openBlobs(ctx, b.names, wish.Hudi.Blobs.Roots); err != nil {
		return nil, err
	}
	b.queue = blobqueue.New(all, meta, func() string { return h.PlanID + "-" + strings.ToLower(rand.Text()[:8]) }, blobqueue.Tuning{})
	b.fresh = filelist.NewSorter("", req.Tuning.Memory/8)
	return b, nil
}

func (e *Engine) judgedTable(ctx context.Context, at *place, req PlanRequest, s *blobState) (*judged, error) {
	run, err := e.openHudi(ctx, at, req)
	if err != nil {
		return nil, err
	}
	if s.Parallelism > 0 {
		run.config.Blobs.Parallelism = s.Parallelism
	}
	names, err := run.blobNames()
	return &judged{e: e, run: run, names: names}, err
}

// run drains what is due, queues what the clean lets go, cleans the slices,
// and drains again if nothing is to be waited for, or it was.
func (b *blobRun) run(ctx context.Context, job reap.Job, o reap.Options) (result reap.Result, err error) {
	defer func() { err = errors.Join(err, b.fresh.Close()) }()
	if err := job.Guardian.Refresh(ctx); err != nil {
		return result, err
	}
	if err := b.prepare(ctx); err != nil {
		return result, err
	}
	// What can't be deleted stays queued, and is told in the end.
	later := b.drain(ctx, job, o, func(v *lake.Verdict) bool { return v.DueAt.Before(b.head.Created) })
	if later != nil && lake.KindOf(later) != lake.Partial {
		return b.with(result), later
	}
	if err := b.enqueue(ctx); err != nil {
		return b.with(result), err
	}
	rest, err := lessen(o, b.sum.Result.Deleted, b.sum.Result.Bytes)
	if err != nil {
		return b.with(result), err
	}
	result, err = reap.Run(ctx, job, rest)
	if err == nil {
		err = b.reported(ctx)
	}
	switch {
	case err != nil || b.count == 0:
	case b.state.Wait || b.alone && b.state.Grace == 0:
		err = b.waited(ctx, job, rest)
	default:
		err = b.tell(o.Outcome)
	}
	return b.with(result), errors.Join(err, later)
}

// with adds what the drains did.
func (b *blobRun) with(r reap.Result) reap.Result {
	r.Complete = r.Complete && b.sum.Failed+b.sum.Skipped == 0
	own := r.Failures // the drain comes first
	r.Failures = nil
	r.Add(b.sum)
	r.Failures = append(r.Failures, own...)
	return r
}

// lessen takes what was deleted off the limits of a run.
func lessen(o reap.Options, objects, bytes int64) (reap.Options, error) {
	for _, l := range []struct {
		flag  string
		limit *int64
		spent int64
	}{{"--max-delete", &o.MaxDelete, objects}, {"--max-bytes", &o.MaxBytes, bytes}} {
		if *l.limit > 0 && l.spent >= *l.limit {
			return o, &lake.Error{Op: "apply", Kind: lake.Limit, Err: fmt.Errorf("%s was reached by blobs", l.flag), Hint: "Apply the same plan with the same journal again; it goes on with what is left."}
		}
		if *l.limit > 0 {
			*l.limit -= l.spent
		}
	}
	return o, nil
}

// keepArtifacts is how long sidecars and intents without use are kept.
const keepArtifacts = 24 * time.Hour

// prepare claims the roots and sweeps what earlier runs left.
func (b *blobRun) prepare(ctx context.Context) error {
	me := blobqueue.Claimer{Table: b.own.run.root.String(), ID: b.own.run.table.ID(), Since: b.e.Now().UTC(), Tool: b.e.Tool}
	if err := b.places.emptied(ctx, me, b.names, b.queue); err != nil {
		return err
	}
	if err := b.places.claim(ctx, me, b.also); err != nil {
		return err
	}
	tl := b.own.run.table.Timeline()
	_, young, err := blobqueue.Sweep(ctx, b.table, b.meta, tl, b.now(), keepArtifacts)
	if err != nil || !young {
		return err
	}
	lease, err := b.lock.Acquire(ctx)
	if err != nil {
		return err
	}
	if tl, err = timeline.Load(ctx, b.own.run.reader, tl.Dir, tl.Layout); err == nil {
		err = lease.Verify(ctx)
	}
	if err == nil {
		_, err = blobqueue.Withdraw(ctx, b.table, b.meta, tl)
	}
	return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
}

// now is our clock, or the store's if that is behind.
func (b *blobRun) now() time.Time { return b.e.hudiNow(b.own.run.place)() }

// drain deletes what is due among some of the plan's rows.
func (b *blobRun) drain(ctx context.Context, job reap.Job, o reap.Options, take func(*lake.Verdict) bool) error {
	started := b.e.Now()
	o.Quarantine, o.Checksums, o.AllVersions, o.Reserved = nil, false, false, nil
	done, err := drain.Run(ctx, drain.Job{
		Cleared: job.Cleared, Table: b.table, Writer: b.meta, Queue: b.queue, Judge: b.judge, Names: b.names, Open: b.places.open, Lock: b.lock, Journal: job.Journal,
		Fence:   b.judge.fence,
		Instant: func(ctx context.Context) (string, error) { return b.own.instant(ctx, b.now()) },
	}, drain.Options{
		Grace: time.Duration(b.state.Grace), MinAge: time.Duration(b.state.MinAge), MaxCandidates: int(b.state.MaxCandidates), DryRun: b.state.DryRun, Take: take, Now: b.now, Reap: o,
	})
	b.sum.Add(done.Result)
	b.stay += done.Queued
	b.held += done.LockHeld
	for _, w := range done.Warnings {
		b.e.Log.Warn(w, "table", b.head.Table)
	}
	if done.Judged > 0 {
		b.e.Log.Debug("blobs were judged", "table", b.head.Table, "judged", done.Judged, "deleted", done.Deleted, "alive", done.Spared, "queued", done.Queued, "lock held", done.LockHeld, "took", b.e.Now().Sub(started))
	}
	return err
}

// enqueue makes durable which blobs the clean lets go, and encodes its sidecar.
func (b *blobRun) enqueue(ctx context.Context) error {
	for v, err := range b.plan.Rows() {
		if err == nil && (v.URI == "" || v.DueAt.Before(b.head.Created)) {
			continue
		}
		if err == nil {
			err = b.fresh.Add(v)
		}
		if err != nil {
			return err
		}
	}
	if b.count = b.fresh.Len(); b.count == 0 {
		return nil
	}
	var err error
	if b.sidecar, _, err = blobqueue.EncodePaths(b.ids); err != nil {
		return err
	}
	b.queued = b.now()
	at, err := b.own.instant(ctx, b.queued)
	if err != nil {
		return err
	}
	entries := func(yield func(blobqueue.Entry, error) bool) {
		for v, err := range b.fresh.Sorted() {
			if !yield(blobqueue.Entry{Path: v.URI, Enqueued: at, Source: at, At: b.queued, Size: v.Size, Modified: v.Modified, ETag: v.ETag}, err) {
				return
			}
		}
	}
	_, err = b.queue.Update(ctx, b.queued, func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
		return blobqueue.Merge(old.Entries(ctx), entries), old.Meta.Stats, nil
	})
	return err
}

// ids yields the blobs that the clean lets go.
func (b *blobRun) ids(yield func(lake.BlobID, error) bool) {
	for v, err := range b.fresh.Sorted() {
		if !yield(lake.BlobID(v.URI), err) {
			return
		}
	}
}

// Publish writes the sidecar before the clean is published.
func (b *blobRun) Publish(ctx context.Context, instant string, resumed bool) (map[string]string, error) {
	if b.sidecar == nil {
		return nil, nil
	}
	err := blobqueue.WriteSidecar(ctx, b.table, b.meta, instant, b.sidecar)
	if resumed && errors.Is(err, fs.ErrExist) {
		err = nil // the run that published the clean knew more of its slices
	}
	return map[string]string{blobqueue.ExtraPath: blobqueue.SidecarPath(instant)}, err
}

// Stats returns the figures of the drains since the clean before.
func (b *blobRun) Stats(ctx context.Context, clean timeline.CleanPlan) (*timeline.BlobCleanStats, error) {
	snap, err := b.queue.Load(ctx)
	if err != nil {
		return nil, err
	}
	b.told = snap.Meta.Stats
	stats := &timeline.BlobCleanStats{Deleted: b.told.Deleted, Retained: b.told.Retained, Bytes: b.told.Bytes, Failed: b.told.Failed}
	if path := clean.Extra[blobqueue.ExtraPath]; path != "" {
		stats.Sidecar = &path
	} else if b.told.IsZero() {
		return nil, nil
	}
	return stats, nil
}

// reported forgets the figures that the completed clean holds now.
func (b *blobRun) reported(ctx context.Context) error {
	if b.told.IsZero() {
		return nil
	}
	_, err := b.queue.Update(context.WithoutCancel(ctx), b.now(), func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
		return old.Entries(ctx), old.Meta.Stats.Without(b.told), nil
	})
	return err
}

// tell tells of the blobs that were queued.
func (b *blobRun) tell(outcome func(reap.Outcome)) error {
	if outcome == nil {
		return nil
	}
	for v, err := range b.fresh.Sorted() {
		if err != nil {
			return err
		}
		outcome(reap.Outcome{URI: v.URI, Size: v.Size, Reason: v.Reason, Outcome: filelist.Queued})
	}
	return nil
}

// waiting counts the blobs that were queued by this run and not drained by it.
func (b *blobRun) waiting() int64 {
	if b.drained || b.queued.IsZero() {
		return 0
	}
	return b.count
}

// waited drains what this run queued, once its grace time is over.
func (b *blobRun) waited(ctx context.Context, job reap.Job, o reap.Options) error {
	if wait := b.queued.Add(time.Duration(b.state.Grace)).Sub(b.now()); wait > 0 {
		b.e.Log.Info("waiting until the blobs that were queued are due", "table", b.head.Table, "for", wait.Round(time.Second))
		if err := b.e.wait(ctx, wait); err != nil {
			return &lake.Error{Op: "wait for blobs", Table: b.head.Table, Kind: lake.Interrupted, Err: err, Hint: "The blobs stay queued: a later run deletes them."}
		}
	}
	b.drained = true
	return b.drain(ctx, job, o, func(v *lake.Verdict) bool { return !v.DueAt.Before(b.head.Created) })
}
