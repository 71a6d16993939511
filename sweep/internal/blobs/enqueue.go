package blobs

import (
	"context"
	"errors"
	"iter"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// enqueue makes durable which blobs the clean lets go, and encodes its sidecar.
// Once the clean is published that is done, for good: to queue them anew would
// pass off a blob that was uploaded since for one that the clean let go.
func (r *Run) enqueue(ctx context.Context) error {
	for v, err := range r.o.Plan.Rows() {
		if err == nil && (v.URI == "" || v.DueAt.Before(r.head.Created)) {
			continue
		}
		if err == nil {
			err = r.fresh.Add(v)
		}
		if err != nil {
			return err
		}
	}
	if r.fresh.Len() == 0 {
		return nil
	}
	if r.clean.Published() {
		return r.recall(ctx)
	}
	r.count = r.fresh.Len()
	var err error
	if r.sidecar, _, err = blobqueue.EncodePaths(blobqueue.SpellingOf(r.names), r.ids); err != nil {
		return err
	}
	r.queued = r.now()
	at, err := r.judge.instant(ctx, r.queued)
	if err != nil {
		return err
	}
	entries := func(yield func(blobqueue.Entry, error) bool) {
		for v, err := range r.fresh.Sorted() {
			if !yield(blobqueue.Entry{Path: v.URI, Enqueued: at, Source: at, At: r.queued, Size: v.Size, Modified: v.Modified, ETag: v.ETag}, err) {
				return
			}
		}
	}
	_, err = r.queue.Update(ctx, r.queued, func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
		return blobqueue.Merge(old.Entries(ctx), entries), blobqueue.Stats{}, nil
	})
	return err
}

// recall narrows the blobs that the clean lets go to those that still wait
// since an earlier run of the plan queued them.
func (r *Run) recall(ctx context.Context) (err error) {
	listed := r.fresh
	r.fresh = filelist.NewSorter("", r.o.Own.Memory/8)
	defer func() { err = errors.Join(err, listed.Close()) }()
	snap, err := r.queue.Load(ctx)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(snap.Entries(ctx))
	defer stop()
	e, err, more := next()
	for v, verr := range listed.Sorted() {
		for more && err == nil && e.Path < v.URI {
			e, err, more = next()
		}
		if err = errors.Join(err, verr); err != nil {
			return err
		}
		if !more || e.Path != v.URI {
			continue
		}
		if e.At.After(r.queued) {
			r.queued = e.At
		}
		if err := r.fresh.Add(v); err != nil {
			return err
		}
	}
	r.count = r.fresh.Len()
	return err
}

// ids yields the blobs that the clean lets go.
func (r *Run) ids(yield func(lake.BlobID, error) bool) {
	for v, err := range r.fresh.Sorted() {
		if !yield(lake.BlobID(v.URI), err) {
			return
		}
	}
}
