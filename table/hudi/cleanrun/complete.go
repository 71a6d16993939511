package cleanrun

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Complete records the clean in the metadata table and completes it, under the
// lock. It refuses while a planned file still stands.
//
// Errors: Partial if one does; Locked, Refused.
func (r *Run) Complete(ctx context.Context, _ table.Result) error {
	if nothing, err := r.nothing(ctx); err != nil || nothing || r.done {
		return r.t.Wrap(err)
	}
	return r.t.Wrap(r.locked(ctx, r.complete))
}

func (r *Run) left(err error) error {
	return &lake.Error{Op: "complete clean " + r.instant, Kind: lake.Partial, Err: err, Hint: "The clean stays pending. Run again: it is finished first."}
}

func (r *Run) complete(ctx context.Context, lease lock.Lease) error {
	i, ok := r.t.Timeline.Find(r.instant, timeline.Clean)
	if !ok {
		return r.stale("the clean %s was removed from the timeline", r.instant)
	}
	if i.State == timeline.Completed {
		r.done = true // by somebody who also told the metadata table
		return nil
	}
	data, err := r.t.Timeline.Read(ctx, i, timeline.Requested)
	if err != nil {
		return err
	}
	plan, err := timeline.DecodeCleanPlan(data)
	if err != nil {
		return err
	}
	names, err := cleandoc.Names(r.t, plan)
	if err != nil {
		return err
	}
	dead, err := r.verifyGone(ctx, names, plan.DeadPartitions)
	if err != nil {
		return err
	}
	lists := make(map[string][]string, len(names))
	for partition, set := range names {
		lists[partition] = slices.Sorted(maps.Keys(set))
	}
	if err := r.commit(ctx, lease, lists, dead); err != nil {
		return err
	}
	result := r.result(plan, lists, dead)
	if r.o.Blobs != nil {
		if result.Blobs, err = r.o.Blobs.Stats(ctx, r.instant, plan); err != nil {
			return err
		}
	}
	return r.finish(ctx, lease, result)
}

// commit records in the metadata table, if there is one, that files are gone.
func (r *Run) commit(ctx context.Context, lease lock.Lease, files map[string][]string, dead []string) error {
	m, err := r.metadata(ctx)
	if err != nil || m == nil || len(files) == 0 {
		return err
	}
	if last := m.Timeline.LastTime(); len(last) == len(r.instant) {
		r.given = max(r.given, last)
	}
	w := mdt.Writing{Writer: r.o.Writer, Completion: r.nextTime, Verify: lease.Verify, Now: r.t.Options.Now()}
	return m.Commit(ctx, w, mdt.Clean{Instant: r.instant, Files: files, DeadPartitions: dead})
}

// finish completes the clean on the timeline.
func (r *Run) finish(ctx context.Context, lease lock.Lease, result timeline.CleanMetadata) error {
	meta, err := result.Encode()
	if err != nil {
		return err
	}
	completion := ""
	if r.t.Timeline.Layout == timeline.Layout2 {
		// The clean completes after its commit in the metadata table.
		if err := r.reload(ctx); err != nil {
			return err
		}
		if completion, err = r.nextTime(ctx); err != nil {
			return err
		}
	}
	if err := lease.Verify(ctx); err != nil {
		return err
	}
	if err := r.create(ctx, timeline.Name(r.t.Timeline.Layout, r.instant, timeline.Clean, timeline.Completed, completion), meta, false); err != nil {
		return err
	}
	r.done = true
	return nil
}

// verifyGone lists the partitions of the plan: none of its files may be left.
// It returns the dead partitions that are none any more: no other base or log
// file is there, nor what makes the folder a partition.
func (r *Run) verifyGone(ctx context.Context, names map[string]map[string]bool, dead []string) ([]string, error) {
	var really []string
	for _, partition := range slices.Sorted(maps.Keys(names)) {
		f, _, err := r.t.Folders.List(ctx, partition)
		if err != nil {
			return nil, err
		}
		for _, have := range f.Files {
			if names[partition][have.Name] {
				return nil, r.left(fmt.Errorf("%s still stands", f.Key(have.Name)))
			}
		}
		if len(f.Files) == 0 && f.Marker == nil && slices.Contains(dead, partition) {
			really = append(really, partition)
		}
	}
	return really, nil
}

// result is the clean's metadata. Files that were gone before count as deleted.
func (r *Run) result(plan timeline.CleanPlan, names map[string][]string, dead []string) timeline.CleanMetadata {
	m := timeline.CleanMetadata{StartTime: r.instant, TookMillis: max(r.t.Options.Now().Sub(r.started).Milliseconds(), 0), LastCompleted: plan.LastCompleted,
		Partitions: make(map[string]timeline.CleanPartition, len(names)), Extra: plan.Extra}
	if plan.Earliest != nil {
		m.Earliest = plan.Earliest.Timestamp
	}
	for partition, list := range names {
		gone := slices.Contains(dead, partition)
		m.TotalDeleted += int32(len(list))
		m.Partitions[partition] = timeline.CleanPartition{Path: partition, Policy: plan.Policy, DeletePatterns: list, Succeeded: list, Failed: []string{}, PartitionDeleted: &gone}
	}
	return m
}
