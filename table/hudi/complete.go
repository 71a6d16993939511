package hudi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// skewWait is how long Hudi holds the lock between reading the clock and
// publishing a time, so that clocks may lie that far apart
// (hoodie.time.generator.max_expected_clock_skew_ms).
const skewWait = 200 * time.Millisecond

// maxAhead is how far the timeline's newest time may lie ahead of our clock.
const maxAhead = 5 * time.Minute

// Complete records the clean in the metadata table and completes it, under the
// lock. It refuses while a planned file still stands.
//
// Errors: Partial if one does; Locked, Refused.
func (r *Run) Complete(ctx context.Context, _ table.Result) error {
	if nothing, err := r.nothing(ctx); err != nil || nothing || r.done {
		return r.t.wrap(err)
	}
	return r.t.wrap(r.locked(ctx, r.complete))
}

func (r *Run) left(err error) error {
	return &lake.Error{Op: "complete clean " + r.instant, Kind: lake.Partial, Err: err, Hint: "The clean stays pending. Run again: it is finished first."}
}

func (r *Run) complete(ctx context.Context, lease lock.Lease) error {
	i, ok := r.t.timeline.Find(r.instant, timeline.Clean)
	if !ok {
		return r.stale("the clean %s was removed from the timeline", r.instant)
	}
	if i.State == timeline.Completed {
		r.done = true // by somebody who also told the metadata table
		return nil
	}
	data, err := r.t.timeline.Read(ctx, i, timeline.Requested)
	if err != nil {
		return err
	}
	plan, err := timeline.DecodeCleanPlan(data)
	if err != nil {
		return err
	}
	names, err := plannedNames(r.t, plan)
	if err != nil {
		return err
	}
	dead, err := r.verifyGone(ctx, names, plan.DeadPartitions)
	if err != nil {
		return err
	}
	m, err := r.metadata(ctx)
	if err != nil {
		return err
	}
	lists := make(map[string][]string, len(names))
	for partition, set := range names {
		lists[partition] = slices.Sorted(maps.Keys(set))
	}
	w := mdt.Writing{Writer: r.o.Writer, Completion: r.nextTime, Verify: lease.Verify, Now: r.t.o.Now()}
	if m != nil && len(lists) > 0 {
		if last := m.Timeline.LastTime(); len(last) == len(r.instant) {
			r.given = max(r.given, last)
		}
		if err := m.Commit(ctx, w, mdt.Clean{Instant: r.instant, Files: lists, DeadPartitions: dead}); err != nil {
			return err
		}
	}
	result := r.result(plan, lists, dead)
	if r.o.Blobs != nil {
		if result.Blobs, err = r.o.Blobs.Stats(ctx, r.instant, plan); err != nil {
			return err
		}
	}
	meta, err := result.Encode()
	if err != nil {
		return err
	}
	completion := ""
	if r.t.timeline.Layout == timeline.Layout2 {
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
	if err := r.create(ctx, timeline.Name(r.t.timeline.Layout, r.instant, timeline.Clean, timeline.Completed, completion), meta, false); err != nil {
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
		f, _, err := r.t.folders.List(ctx, partition)
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
	m := timeline.CleanMetadata{StartTime: r.instant, TookMillis: max(r.t.o.Now().Sub(r.started).Milliseconds(), 0), LastCompleted: plan.LastCompleted,
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

// nextTime returns a time for an instant or a completion, later than all on
// both timelines, and waits as Hudi does before it may be published. It must
// be called under the lock.
//
// Errors: Refused if the timeline's newest time lies in the future; Invalid
// for a LOCAL timeline whose zone isn't known.
// Source: spec/hudi-clean.md section 2.3.
func (r *Run) nextTime(ctx context.Context) (string, error) {
	zone, err := r.t.zone()
	if err != nil {
		return "", err
	}
	now := r.t.o.Now()
	next := timeline.FormatTime(now, zone)
	last := max(r.t.timeline.LastTime(), r.instant, r.given)
	if next <= last && len(last) == len(next) {
		at, err := timeline.ParseTime(last, zone)
		if err != nil {
			return "", err
		}
		if at.Sub(now) > maxAhead {
			return "", &lake.Error{Op: "make instant", Kind: lake.Refused, Code: "clock_skew", Err: fmt.Errorf("the timeline's newest time %s lies %s ahead of this machine's clock in %s", last, at.Sub(now).Round(time.Second), zone),
				Hint: "Set the clock, or name the zone of the writers' hosts with --timeline-zone."}
		}
		next = timeline.FormatTime(at.Add(time.Millisecond), zone)
	}
	r.given = next
	return next, r.o.Sleep(ctx, skewWait)
}

// freeInstant returns an instant that no other action has. Hudi 0.x takes the
// clock without the table's lock, so a writer may have taken the same
// millisecond; after the wait what it requested is there. Two actions of one
// instant would share one commit in the metadata table, and the one would take
// back what the other says. It must be called under the lock.
//
// Errors: those of nextTime, and of the store.
// Source: Apache Hudi, HoodieActiveTimeline.createNewInstantTime, which has
// shouldLock since 1.0.
func (r *Run) freeInstant(ctx context.Context) (string, error) {
	for {
		at, err := r.nextTime(ctx)
		if err != nil {
			return "", err
		}
		now, err := timeline.Load(ctx, r.t.reader, r.t.timeline.Dir, r.t.timeline.Layout)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(now.Instants, func(i timeline.Instant) bool { return i.Time == at }) {
			return at, nil
		}
	}
}

// uri spells a key as Hudi's plans do: fully qualified, nothing escaped.
func uri(root lake.Root, key lake.Key) string {
	if root.Class() == "file" {
		return "file:" + root.Join(key)
	}
	return root.Join(key)
}

// parseKey reads the name of a base or log file below the root.
func parseKey(k lake.Key) (datafile.File, bool) {
	if strings.HasPrefix(string(k), Dir+"/") {
		return datafile.File{}, false
	}
	return datafile.Parse(k.Base())
}
