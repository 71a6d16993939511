package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// verdict is a judgement of d.rows: what is in neither set may die. A
// fingerprint that collides keeps a blob.
type verdict struct {
	alive  *keyset.Set // a committed file refers to it
	unsure *keyset.Set // stays in the queue
	unread error       // why nothing could be decided on, as Round.Unread
	dead   int64
}

func (v *verdict) dies(id lake.BlobID) bool {
	return !v.alive.Has(lake.Key(id)) && !v.unsure.Has(lake.Key(id))
}

// weigh sorts candidates by what a round found out, on top of an earlier verdict.
func weigh(before *verdict, r Round, candidates Candidates) (*verdict, error) {
	alive, unsure, v := keyset.New(), keyset.New(), &verdict{unread: r.Unread()}
	for id, err := range candidates {
		if err != nil {
			return nil, err
		}
		fate := r.Of(id).Fate
		switch {
		case fate == blob.Referenced || before != nil && before.alive.Has(lake.Key(id)):
			alive.Add(lake.Key(id))
		case fate != blob.Unreferenced || v.unread != nil || before != nil && before.unsure.Has(lake.Key(id)):
			unsure.Add(lake.Key(id))
		default:
			v.dead++
		}
	}
	if v.unread == nil && before != nil {
		v.unread = before.unread
	}
	v.alive, v.unsure = alive.Done(), unsure.Done()
	return v, nil
}

// delete judges, publishes the intent and has reap delete.
func (d *drain) delete(ctx context.Context) error {
	if d.result.Judged = d.rows.Len(); d.result.Judged == 0 {
		return nil
	}
	v, intent, err := d.decide(ctx)
	if err != nil {
		return err
	}
	dead, err := d.divide(v)
	if err == nil && intent != nil {
		err = d.reap(ctx, v, dead, intent)
	}
	if err == nil && v.unread != nil {
		what := "no blob was deleted"
		if d.result.Deleted > 0 {
			what = "blobs stay queued"
		}
		err = &lake.Error{Op: "drain blobs", Kind: lake.Partial, Err: fmt.Errorf("%s: %w", what, v.unread), Hint: cmp.Or(lake.HintOf(v.unread), "Blobs stay queued until every file of the table can be read.")}
	}
	return errors.Join(err, dead.Close())
}

// decide judges until no write began meanwhile, and publishes what is to die.
// The intent is nil if nothing is.
func (d *drain) decide(ctx context.Context) (*verdict, *blobqueue.Intent, error) {
	for range d.o.Tries {
		r, err := d.Judge.All(ctx, d.candidates)
		if err != nil {
			return nil, nil, err
		}
		v, err := weigh(nil, r, d.candidates)
		if err != nil || v.dead == 0 || d.o.DryRun {
			return v, nil, err
		}
		intent, again, err := d.publish(ctx, v)
		if err != nil || !again {
			return v, intent, err
		}
	}
	d.warn("writes kept beginning while blobs were judged: those that are due stay queued")
	all := keyset.New()
	for id, err := range d.candidates {
		if err != nil {
			return nil, nil, err
		}
		all.Add(lake.Key(id))
	}
	return &verdict{alive: keyset.New().Done(), unsure: all.Done()}, nil, nil
}

// publish looks, under the lock, at what was completed since the judgement and
// publishes the intent to delete what v lets die still. again is true if a
// write began since, or the look took too long.
func (d *drain) publish(ctx context.Context, v *verdict) (intent *blobqueue.Intent, again bool, err error) {
	data, _, err := blobqueue.EncodePaths(blobqueue.SpellingOf(d.Names), d.dying(v))
	if err != nil {
		return nil, false, err
	}
	lease, err := d.Lock.Acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	began := d.o.Now()
	defer func() {
		err = errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
		d.result.LockHeld += max(d.o.Now().Sub(began), 0)
	}()
	bound, cancel := context.WithTimeout(ctx, d.o.LockFor)
	defer cancel()
	r, more, err := d.Judge.Since(bound, d.candidates)
	if err != nil && bound.Err() != nil && ctx.Err() == nil {
		return nil, true, nil
	}
	if err != nil || more {
		return nil, more, err
	}
	if r != nil {
		now, err := weigh(v, r, d.candidates)
		if err != nil {
			return nil, false, err
		}
		*v = *now
	}
	stood := v.dead
	err = d.requeued(bound, v)
	if err != nil && bound.Err() != nil && ctx.Err() == nil {
		return nil, true, nil
	}
	if err != nil || v.dead == 0 {
		return nil, false, err
	}
	if r != nil || v.dead != stood {
		if data, _, err = blobqueue.EncodePaths(blobqueue.SpellingOf(d.Names), d.dying(v)); err != nil {
			return nil, false, err
		}
	}
	at, err := d.Instant(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := lease.Verify(ctx); err != nil {
		return nil, false, err
	}
	intent, err = blobqueue.Publish(ctx, d.Table, d.Writer, at, data)
	return intent, false, err
}

// requeued sets apart what isn't in the queue any more as the drain found it:
// another run took it off, since a file referred to it, or queued it anew when
// it let go of that file. Such a blob waits for its grace time.
func (d *drain) requeued(ctx context.Context, v *verdict) error {
	snap, err := d.Queue.Load(ctx)
	if err != nil || snap.Number == d.snap.Number {
		return err
	}
	next, stop := iter.Pull2(snap.Entries(ctx))
	defer stop()
	e, err, more := next()
	unsure, dead := keyset.New(), int64(0)
	for row, rerr := range d.rows.Sorted() {
		for more && err == nil && e.Path < row.URI {
			e, err, more = next()
		}
		if err = errors.Join(err, rerr); err != nil {
			return err
		}
		switch key := lake.Key(row.URI); {
		case !more || e.Path != row.URI || !e.At.Add(d.o.Grace).Equal(row.DueAt) || v.unsure.Has(key):
			unsure.Add(key)
		case !v.alive.Has(key):
			dead++
		}
	}
	v.unsure, v.dead = unsure.Done(), dead
	return nil
}

// dying yields what a verdict lets die.
func (d *drain) dying(v *verdict) Candidates {
	return func(yield func(lake.BlobID, error) bool) {
		for id, err := range d.candidates {
			if err == nil && !v.dies(id) {
				continue
			}
			if !yield(id, err) {
				return
			}
		}
	}
}

// divide tells what stays, and returns the rows that die.
func (d *drain) divide(v *verdict) (*filelist.Sorter, error) {
	dead := filelist.NewSorter("", d.o.Memory)
	for row, err := range d.rows.Sorted() {
		if err != nil {
			return dead, err
		}
		key := lake.Key(row.URI)
		switch {
		case v.alive.Has(key):
			d.off.Add(key)
			d.outcome(&row, filelist.Spared, nil)
		case v.unsure.Has(key) && v.unread != nil:
			d.outcome(&row, filelist.Failed, v.unread)
		case v.unsure.Has(key), d.o.DryRun:
			d.outcome(&row, filelist.Queued, nil)
		default:
			if err := dead.Add(row); err != nil {
				return dead, err
			}
		}
	}
	return dead, nil
}

// reap has the dead blobs deleted.
func (d *drain) reap(ctx context.Context, v *verdict, dead *filelist.Sorter, intent *blobqueue.Intent) error {
	next, stop := iter.Pull2(dead.Sorted())
	defer stop()
	row, rowErr, more := next()
	o := d.o.Reap
	o.Now = d.o.Now
	if o.MaxDuration > 0 {
		o.MaxDuration = max(o.MaxDuration-d.o.Now().Sub(d.began), 1)
	}
	o.Only = func(v *lake.Verdict) bool {
		for more && rowErr == nil && row.URI < v.URI {
			row, rowErr, more = next()
		}
		if !more || rowErr != nil || row.URI != v.URI || v.Reason != lake.ExpiredBlob {
			return false
		}
		v.Size, v.Modified, v.ETag = row.Size, row.Modified, row.ETag
		return true
	}
	o.Blob = func(ctx context.Context, uri string) (reap.Place, string, error) {
		place, standing := d.Names.Place(lake.BlobID(uri))
		if standing != lake.MayDie {
			return nil, "", &lake.Error{Op: "delete blob", Key: lake.Key(uri), Kind: lake.Refused, Code: "blob_root", Err: fmt.Errorf("%s", standing)}
		}
		return d.Open(ctx, place)
	}
	o.Outcome = func(x reap.Outcome) {
		if x.Outcome == filelist.Failed {
			d.fail(x.URI)
		}
		if d.o.Reap.Outcome != nil {
			d.o.Reap.Outcome(x)
		}
	}
	watch := &watch{judge: d.Judge, intent: intent, dead: d.dying(v), saved: keyset.New().Done()}
	job := reap.Job{Cleared: d.Cleared, Place: d.Table, Guardian: watch, Recorder: record{d.left}, Journal: d.Journal}
	done, err := reap.Run(ctx, job, o)
	v.unread = watch.unread
	d.result.Add(done)
	own := done.Own() // what an earlier run in the journal deleted stands in the queue's figures
	d.result.Stats = d.result.Stats.Add(blobqueue.Stats{Deleted: own.Deleted + own.Gone, Retained: own.Spared, Bytes: own.Bytes})
	return errors.Join(err, rowErr, d.end(context.WithoutCancel(ctx), intent))
}

// end records that nothing more is deleted by the intent.
func (d *drain) end(ctx context.Context, intent *blobqueue.Intent) error {
	at, err := d.Instant(ctx)
	if err != nil {
		return err
	}
	return intent.End(ctx, max(at, intent.Time))
}

// settle takes off the queue what left it, but for what was queued anew.
func (d *drain) settle(ctx context.Context) error {
	if d.o.DryRun {
		return nil
	}
	off, left, taken := d.off.Done(), d.left.Done(), d.taken.Done()
	if off.Len()+left.Len() == 0 && d.result.Stats.IsZero() {
		return nil
	}
	_, err := d.Queue.Update(ctx, d.o.Now(), func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
		return func(yield func(blobqueue.Entry, error) bool) {
			for e, err := range old.Entries(ctx) {
				if err == nil && taken.Has(identity(&e)) && (off.Has(lake.Key(e.Path)) || left.Has(lake.Key(e.Path))) {
					continue
				}
				if !yield(e, err) {
					return
				}
			}
		}, d.result.Stats, nil
	})
	return err
}
