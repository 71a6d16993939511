package cleanrun

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Protected spares the folders of dropped partitions that are written to again.
// What comes to need a planned base or log file makes the whole plan stale, as a
// clean is complete or not.
func (r *Run) Protected(key lake.Key) bool { return r.revival.protected(key) }

// Refresh reads the timeline anew.
//
// Errors: Stale if a savepoint, a replace commit or a pending plan that came
// since touches a planned file, or a clean, rollback or restore came.
func (r *Run) Refresh(ctx context.Context) error { return r.t.Wrap(r.refresh(ctx)) }

func (r *Run) refresh(ctx context.Context) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	return r.check(ctx)
}

// reload lists the timeline and reads the properties again.
func (r *Run) reload(ctx context.Context) error {
	p, err := timeline.ReadProperties(ctx, r.t.Reader, timeline.Dir)
	if err != nil {
		return err
	}
	if p["hoodie.table.version"] != r.t.Version || mdt.Available(p) != r.state.Listing {
		return r.stale("the table's version or its metadata table changed")
	}
	return r.t.Follow(ctx, p)
}

// check looks at the instants that weren't there when the plan was made.
func (r *Run) check(ctx context.Context) error {
	if err := r.revival.look(ctx, r.t.Timeline); err != nil {
		return err
	}
	if _, ok := r.t.Timeline.Find(r.instant, timeline.Clean); r.instant != "" && !ok && !r.done {
		return r.stale("the clean %s was removed from the timeline", r.instant)
	}
	touching := false
	for _, i := range r.t.Timeline.Instants {
		if !cleandoc.Matters(i) || r.known[cleandoc.Mark(i)] {
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
	s, err := filegroup.ReadServices(ctx, r.t.Timeline)
	if err != nil {
		return err
	}
	if err := r.touched(&s); err != nil {
		return err
	}
	for _, i := range r.t.Timeline.Instants {
		if cleandoc.Matters(i) && i.Action != timeline.Clean {
			r.known[cleandoc.Mark(i)] = true
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
		if i, ok := s.Replaced[filegroup.ID{Partition: partition, FileID: f.FileID}]; ok && v.Reason == lake.ExpiredSlice && r.state.Resumes == "" {
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
		data, err := r.t.Timeline.Read(ctx, i, timeline.Requested)
		if err != nil {
			return false, err
		}
		plan, err := timeline.DecodeCleanPlan(data)
		if err != nil || plan.Extra[cleandoc.ExtraPlan] != r.o.PlanID {
			return false, nil //nolint:nilerr // a plan that can't be read isn't ours
		}
		r.instant = i.Time
	}
	if i.Time == r.instant && i.State == timeline.Completed {
		r.done = true
	}
	return i.Time == r.instant, nil
}
