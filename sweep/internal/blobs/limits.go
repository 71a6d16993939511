package blobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
)

// rest takes off the limits of a run what its drains and its clean did, and
// names the limit that is used up.
func (r *Run) rest(o reap.Options, clean reap.Result) (reap.Options, string) {
	drained, cleaned := r.sum.Own(), clean.Own()
	if o.MaxDelete > 0 {
		if o.MaxDelete -= drained.Deleted + cleaned.Deleted + cleaned.Quarantined; o.MaxDelete <= 0 {
			return o, "--max-delete"
		}
	}
	if o.MaxBytes > 0 {
		if o.MaxBytes -= drained.Bytes + cleaned.Bytes + cleaned.Moved; o.MaxBytes <= 0 {
			return o, "--max-bytes"
		}
	}
	if o.MaxDuration > 0 {
		if o.MaxDuration -= r.o.Own.Now().Sub(r.started); o.MaxDuration <= 0 {
			return o, "--max-duration"
		}
	}
	return o, ""
}

// limited is the error of a run that a limit ended between drain and clean.
func (r *Run) limited(limit, left string) error {
	return &lake.Error{Op: "apply", Table: r.head.Table, Kind: lake.Limit, Err: fmt.Errorf("%s was reached, %s", limit, left), Hint: "Apply the same plan with the same journal again; it goes on with what is left."}
}

// waited drains what this plan queued, once its grace time is over, with what
// the clean left of the run's limits. If that is nothing, or too little for the
// wait, the blobs stay queued, and the limit is named.
func (r *Run) waited(ctx context.Context, job reap.Job, o reap.Options, clean reap.Result) (limit string, err error) {
	wait := r.queued.Add(time.Duration(r.state.Grace)).Sub(r.now())
	rest, limit := r.rest(o, clean)
	if limit == "" && o.MaxDuration > 0 && wait >= rest.MaxDuration {
		limit = "--max-duration"
	}
	if limit != "" {
		return limit, errors.Join(r.limited(limit, fmt.Sprintf("%d blobs stay queued", r.count)), r.tell(o.Outcome))
	}
	if wait > 0 {
		r.o.Own.Log.Info("waiting until the blobs that were queued are due", "table", r.head.Table, "for", wait.Round(time.Second))
		if err := r.o.Own.Sleep(ctx, wait); err != nil {
			return "", &lake.Error{Op: "wait for blobs", Table: r.head.Table, Kind: lake.Interrupted, Err: err, Hint: "The blobs stay queued: a later run deletes them."}
		}
		if rest, limit = r.rest(o, clean); limit != "" {
			return limit, errors.Join(r.limited(limit, fmt.Sprintf("%d blobs stay queued", r.count)), r.tell(o.Outcome))
		}
	}
	return "", r.drain(ctx, job, rest, func(v *lake.Verdict) bool { return !v.DueAt.Before(r.head.Created) })
}
