package cleanrun

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/snapshot"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Options is what carrying out a plan takes. All fields but Blobs are required.
type Options struct {
	PlanID string
	State  map[string]string                     // of the plan document, as cleandoc.State encodes it
	Rows   func() iter.Seq2[lake.Verdict, error] // of the plan document
	Lock   lock.Provider
	Writer store.Writer // confined to .hoodie
	Sleep  func(ctx context.Context, d time.Duration) error
	Blobs  BlobRecord // nil for a table without blobs
}

// BlobRecord is what a clean leaves of external blobs on the table.
type BlobRecord interface {
	// Publish makes durable which blobs the clean of an instant lets go, before the clean is published. It is called under the table's lock.
	// It returns what the clean's extra metadata is to say. resumed: the clean is pending already, its plan stays as it is.
	Publish(ctx context.Context, instant string, resumed bool) (extra map[string]string, err error)
	// Stats returns the figures that the clean of an instant is to report as it completes; nil for none. It is called under the table's lock.
	Stats(ctx context.Context, instant string, plan timeline.CleanPlan) (*timeline.BlobCleanStats, error)
}

// Run makes a plan an instant and completes it. It implements table.Guardian
// and table.Recorder. Not safe for concurrent use, but for Protected.
//
// The order of effects is that of Hudi's own cleaner: requested and inflight
// before the first delete, the metadata table's commit after the last one, and
// completed at the end. Plan and completion are written under the lock.
//
// Source: Hudi 1.2.0, CleanPlanActionExecutor and CleanActionExecutor;
// spec/hudi-clean.md sections 6.1 and 6.7.
type Run struct {
	t       *snapshot.Table
	o       Options
	state   cleandoc.State
	known   map[string]bool // instants that mattered when the plan was made
	revival *revival
	instant string // of the clean, once it is published
	given   string // the latest time that was made
	done    bool   // completed already, by us or another
	started time.Time
}

// New returns the recorder and guardian of a plan of a table. It reads the
// table's timeline anew as it goes.
//
// Errors: those of cleandoc.Decode.
func New(t *snapshot.Table, o Options) (*Run, error) {
	state, err := cleandoc.Decode(o.State)
	if err != nil {
		return nil, t.Wrap(err)
	}
	rows := o.Rows
	o.Rows = func() iter.Seq2[lake.Verdict, error] { return slicesOf(rows()) }
	r := &Run{t: t, o: o, state: state, known: make(map[string]bool), revival: newRevival(state.Writes, state.Dead), instant: state.Resumes, started: t.Options.Now()}
	for _, m := range state.Timeline {
		r.known[m] = true
	}
	return r, nil
}

// slicesOf leaves out the blobs of a plan's rows.
func slicesOf(rows iter.Seq2[lake.Verdict, error]) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		for v, err := range rows {
			if v.URI == "" && !yield(v, err) {
				return
			}
		}
	}
}

// nothing reports a plan without a clean: no instant is made for it.
func (r *Run) nothing(ctx context.Context) (bool, error) {
	if r.state.Nothing {
		return true, nil
	}
	for v, err := range r.o.Rows() {
		if err != nil || v.Reason != lake.FailedWrite {
			return false, err
		}
	}
	return r.state.Resumes == "" && !r.state.Empty, nil
}

// Instant is that of the clean, "" before it is published.
func (r *Run) Instant() string { return r.instant }

// Published reports whether the clean of this very plan stood on the timeline at
// the last Refresh: what it lets go was queued before that.
func (r *Run) Published() bool { return r.instant != "" && r.state.Resumes == "" || r.done }

// Begin publishes the clean: requested under the lock, then inflight. A clean
// of this plan that an earlier run published is gone on with.
//
// Errors: Stale, Locked, Refused; Invalid for a LOCAL timeline whose zone isn't known.
func (r *Run) Begin(ctx context.Context, _ table.Intent) error { return r.t.Wrap(r.begin(ctx)) }

func (r *Run) begin(ctx context.Context) error {
	if nothing, err := r.nothing(ctx); err != nil || nothing {
		return err
	}
	published := ""
	if r.instant == "" {
		if err := r.locked(ctx, func(ctx context.Context, lease lock.Lease) (err error) {
			published, err = r.publish(ctx, lease)
			return err
		}); err != nil {
			return err
		}
	}
	if r.done {
		return nil
	}
	i, ok := r.t.Timeline.Find(r.instant, timeline.Clean)
	if ok && i.State == timeline.Completed {
		r.done = true
		return nil
	}
	if r.o.Blobs != nil && r.instant != published {
		if _, err := r.o.Blobs.Publish(ctx, r.instant, true); err != nil {
			return err
		}
	}
	data, err := r.inflight(ctx)
	if err != nil {
		return err
	}
	return r.create(ctx, timeline.Name(r.t.Timeline.Layout, r.instant, timeline.Clean, timeline.Inflight, ""), data, true)
}

// inflight is what the clean's inflight file holds. Hudi 0.x and 1.0, which
// write versions up to 8, put the plan there, and take a file without bytes for
// a crash: they remove it and leave the clean to a later run. Newer releases
// leave it empty and don't read it. Measured on 1.0.2 and 1.2.0.
func (r *Run) inflight(ctx context.Context) ([]byte, error) {
	if r.t.Version == "9" {
		return nil, nil
	}
	tl, err := r.t.Timeline.Reload(ctx)
	if err != nil {
		return nil, err
	}
	i, ok := tl.Find(r.instant, timeline.Clean)
	if !ok {
		return nil, r.stale("the clean %s was removed from the timeline", r.instant)
	}
	return tl.Read(ctx, i, timeline.Requested)
}

// locked runs f under the table's lock with a fresh timeline.
func (r *Run) locked(ctx context.Context, f func(context.Context, lock.Lease) error) error {
	lease, err := r.o.Lock.Acquire(ctx)
	if err != nil {
		return err
	}
	err = r.reload(ctx)
	if err == nil {
		err = f(ctx, lease)
	}
	return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
}

// Confirm needs nothing: a clean is recorded as a whole.
func (r *Run) Confirm(context.Context, []lake.Key) error { return nil }

// Fail leaves the clean pending: the next clean, ours or Hudi's, finishes it.
func (r *Run) Fail(context.Context, table.Result) error { return nil }
