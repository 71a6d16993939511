package hudi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// RunOptions is what carrying out a plan takes. All fields are required.
type RunOptions struct {
	PlanID string
	State  map[string]string                     // of the plan document
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
	t       *snapshot
	o       RunOptions
	known   map[string]bool // instants that mattered when the plan was made
	revival *revival
	instant string // of the clean, once it is published
	given   string // the latest time that was made
	done    bool   // completed already, by us or another
	started time.Time
}

// newRun returns the recorder and guardian of a plan of a table. It reads the
// table's timeline anew as it goes.
//
// Errors: Invalid for a state that State didn't write.
func newRun(t *snapshot, o RunOptions) (*Run, error) {
	if _, ok := o.State[stateTimeline]; !ok {
		return nil, t.wrap(&lake.Error{Op: "apply plan", Kind: lake.Invalid, Err: errors.New("the plan doesn't say which timeline it was made on"), Hint: "Make a new plan."})
	}
	rows := o.Rows
	o.Rows = func() iter.Seq2[lake.Verdict, error] { return slicesOf(rows()) }
	r := &Run{t: t, o: o, known: make(map[string]bool), instant: o.State[stateResumes], started: t.o.Now()}
	for line := range strings.SplitSeq(o.State[stateTimeline], "\n") {
		r.known[line] = true
	}
	var dead []string
	if err := json.Unmarshal([]byte(o.State[stateDead]), &dead); err != nil {
		return nil, t.wrap(r.badState(stateDead, err))
	}
	r.revival = newRevival(o.State[stateWrites], dead)
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
	if r.o.State[stateNothing] == "true" {
		return true, nil
	}
	for v, err := range r.o.Rows() {
		if err != nil || v.Reason != lake.FailedWrite {
			return false, err
		}
	}
	return r.o.State[stateResumes] == "" && r.o.State[stateEmpty] != "true", nil
}

// Protected spares the folders of dropped partitions that are written to again.
// What comes to need a planned base or log file makes the whole plan stale, as a
// clean is complete or not.
func (r *Run) Protected(key lake.Key) bool { return r.revival.protected(key) }

// Refresh reads the timeline anew.
//
// Errors: Stale if a savepoint, a replace commit or a pending plan that came
// since touches a planned file, or a clean, rollback or restore came.
func (r *Run) Refresh(ctx context.Context) error { return r.t.wrap(r.refresh(ctx)) }

func (r *Run) refresh(ctx context.Context) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	return r.check(ctx)
}

// reload lists the timeline and reads the properties again.
func (r *Run) reload(ctx context.Context) error {
	p, err := timeline.ReadProperties(ctx, r.t.reader, timeline.Dir)
	if err != nil {
		return err
	}
	if p["hoodie.table.version"] != r.t.version || strconv.FormatBool(mdt.Available(p)) != r.o.State[stateListing] {
		return r.stale("the table's version or its metadata table changed")
	}
	return r.t.follow(ctx, p)
}

// check looks at the instants that weren't there when the plan was made.
func (r *Run) check(ctx context.Context) error {
	if err := r.revival.look(ctx, r.t.timeline); err != nil {
		return err
	}
	if _, ok := r.t.timeline.Find(r.instant, timeline.Clean); r.instant != "" && !ok && !r.done {
		return r.stale("the clean %s was removed from the timeline", r.instant)
	}
	touching := false
	for _, i := range r.t.timeline.Instants {
		if !matters(i) || r.known[mark(i)] {
			continue
		}
		switch i.Action {
		case timeline.Clean:
			mine, err := r.ours(ctx, i)
			if err != nil {
				return err
			}
			if !mine {
				return r.stale("the clean %s came since the plan was made", i.Time)
			}
			continue
		case timeline.Rollback, timeline.Restore:
			return r.stale("the %s %s came since the plan was made", i.Action, i.Time)
		}
		touching = true
	}
	if !touching {
		return nil
	}
	s, err := filegroup.ReadServices(ctx, r.t.timeline)
	if err != nil {
		return err
	}
	if err := r.touched(&s); err != nil {
		return err
	}
	for _, i := range r.t.timeline.Instants {
		if matters(i) && i.Action != timeline.Clean {
			r.known[mark(i)] = true
		}
	}
	return nil
}

// touched looks for planned files that s needs now.
func (r *Run) touched(s *filegroup.Services) error {
	for v, err := range r.o.Rows() {
		if err != nil {
			return err
		}
		f, ok := parseKey(v.Key)
		if v.Directory || !ok {
			continue
		}
		partition := string(v.Key.Dir())
		if at, ok := s.Saved[f.Name]; ok {
			return r.stale("the savepoint %s holds %s", at, v.Key)
		}
		if i, ok := s.Planned[filegroup.PlannedFile{Partition: partition, Name: f.Name}]; ok {
			return r.stale("the pending %s %s names %s", i.Action, i.Time, v.Key)
		}
		if i, ok := s.Replaced[filegroup.ID{Partition: partition, FileID: f.FileID}]; ok && v.Reason == lake.ExpiredSlice && r.o.State[stateResumes] == "" {
			return r.stale("the %s %s replaced the file group of %s", i.Action, i.Time, v.Key)
		}
	}
	return nil
}

func (r *Run) stale(format string, args ...any) error {
	return &lake.Error{Op: "apply plan", Kind: lake.Stale, Err: fmt.Errorf(format, args...), Hint: "Make a new plan."}
}

// ours reports whether a clean is the one of this plan, and adopts it.
func (r *Run) ours(ctx context.Context, i timeline.Instant) (bool, error) {
	if r.instant == "" {
		if i.Files[timeline.Requested] == "" {
			return false, nil
		}
		data, err := r.t.timeline.Read(ctx, i, timeline.Requested)
		if err != nil {
			return false, err
		}
		plan, err := timeline.DecodeCleanPlan(data)
		if err != nil || plan.Extra[extraPlan] != r.o.PlanID {
			return false, nil //nolint:nilerr // a plan that can't be read isn't ours
		}
		r.instant = i.Time
	}
	if i.Time == r.instant && i.State == timeline.Completed {
		r.done = true
	}
	return i.Time == r.instant, nil
}

// Instant is that of the clean, "" before it is published.
func (r *Run) Instant() string { return r.instant }

// Published reports whether the clean of this very plan stood on the timeline at
// the last Refresh: what it lets go was queued before that.
func (r *Run) Published() bool { return r.instant != "" && r.o.State[stateResumes] == "" || r.done }

// Begin publishes the clean: requested under the lock, then inflight. A clean
// of this plan that an earlier run published is gone on with.
//
// Errors: Stale, Locked, Refused; Invalid for a LOCAL timeline whose zone isn't known.
func (r *Run) Begin(ctx context.Context, _ table.Intent) error { return r.t.wrap(r.begin(ctx)) }

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
	i, ok := r.t.timeline.Find(r.instant, timeline.Clean)
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
	return r.create(ctx, timeline.Name(r.t.timeline.Layout, r.instant, timeline.Clean, timeline.Inflight, ""), data, true)
}

// inflight is what the clean's inflight file holds. Hudi 0.x and 1.0, which
// write versions up to 8, put the plan there, and take a file without bytes for
// a crash: they remove it and leave the clean to a later run. Newer releases
// leave it empty and don't read it. Measured on 1.0.2 and 1.2.0.
func (r *Run) inflight(ctx context.Context) ([]byte, error) {
	if r.t.version == "9" {
		return nil, nil
	}
	tl, err := timeline.Load(ctx, r.t.reader, r.t.timeline.Dir, r.t.timeline.Layout)
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

// publish writes the plan, if nothing speaks against it now, and returns its
// instant; "" if an earlier run of this plan had published it.
func (r *Run) publish(ctx context.Context, lease lock.Lease) (at string, err error) {
	if err := r.check(ctx); err != nil || r.instant != "" {
		return "", err
	}
	if i, _, err := pendingClean(ctx, r.t); err != nil || i != nil {
		if err != nil {
			return "", err
		}
		return "", r.stale("the clean %s is pending", i.Time)
	}
	if m, err := r.metadata(ctx); err != nil || m != nil {
		if err == nil {
			err = m.Writable()
		}
		if err != nil {
			return "", err
		}
	}
	plan, err := r.plan()
	if err != nil {
		return "", err
	}
	if at, err = r.freeInstant(ctx); err != nil {
		return "", err
	}
	if r.o.Blobs != nil {
		extra, err := r.o.Blobs.Publish(ctx, at, false)
		if err != nil {
			return "", err
		}
		maps.Copy(plan.Extra, extra)
	}
	data, err := plan.Encode()
	if err != nil {
		return "", err
	}
	if err := lease.Verify(ctx); err != nil {
		return "", err
	}
	if err := r.create(ctx, timeline.Name(r.t.timeline.Layout, at, timeline.Clean, timeline.Requested, ""), data, false); err != nil {
		return "", err
	}
	r.instant = at
	return at, nil
}

// metadata opens the metadata table, nil if there is none.
func (r *Run) metadata(ctx context.Context) (*mdt.Table, error) {
	if !mdt.Available(r.t.properties) {
		return nil, nil
	}
	return mdt.Open(ctx, r.t.reader, mdt.Data{Properties: r.t.properties, Timeline: r.t.timeline})
}

// create writes a timeline file.
func (r *Run) create(ctx context.Context, name string, data []byte, mayExist bool) error {
	name = r.t.timeline.Dir + "/" + name
	err := r.o.Writer.PutIfAbsent(ctx, name, data)
	if errors.Is(err, fs.ErrExist) && mayExist {
		return nil
	}
	if err != nil {
		return store.Fail("write timeline", r.t.root, name, err)
	}
	return nil
}

// Confirm needs nothing: a clean is recorded as a whole.
func (r *Run) Confirm(context.Context, []lake.Key) error { return nil }

// Fail leaves the clean pending: the next clean, ours or Hudi's, finishes it.
func (r *Run) Fail(context.Context, table.Result) error { return nil }
