package hudi

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// groupID names a file group: ids are unique in a partition, not in a table.
type groupID struct{ partition, id string }

// services is what savepoints, pending plans and replace commits say of files.
type services struct {
	savepoints   []timeline.Instant               // completed ones
	saved        map[string]string                // file name → time of a savepoint that holds it; names of all partitions, as Hudi compares them
	compacting   map[groupID]pendingCompaction    // (log) compactions
	planned      map[plannedFile]timeline.Instant // files that a pending plan names
	replaced     map[groupID]timeline.Instant     // by the latest completed replace commit
	lastReplaced map[string]string                // partition → time of its latest replace commit
	warnings     []string
}

type plannedFile struct{ partition, name string }

// pendingCompaction says that slices from the instant base on are needed. at is
// the instant of a compaction, "" of a log compaction alone.
type pendingCompaction struct{ base, at string }

// readServices reads every pending plan, savepoint and replace commit.
//
// Memory: some 100 bytes for each file named.
// Errors: Damaged: what can't be read might protect anything.
func readServices(ctx context.Context, tl *timeline.Timeline) (services, error) {
	s := services{saved: make(map[string]string), compacting: make(map[groupID]pendingCompaction), planned: make(map[plannedFile]timeline.Instant), replaced: make(map[groupID]timeline.Instant), lastReplaced: make(map[string]string)}
	for _, i := range tl.Instants {
		var err error
		switch {
		case i.Action == timeline.Savepoint && i.State == timeline.Completed:
			err = s.savepoint(ctx, tl, i)
		case i.Action == timeline.Savepoint:
			s.warnings = append(s.warnings, "savepoint "+i.Time+" is not complete and holds nothing")
		case i.Action == timeline.Compaction, i.Action == timeline.LogCompaction:
			err = s.compaction(ctx, tl, i)
		case i.Action.Comparable() == timeline.ReplaceCommit && i.State == timeline.Completed:
			err = s.replace(ctx, tl, i)
		case i.Action.Comparable() == timeline.ReplaceCommit:
			err = s.clustering(ctx, tl, i)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *services) savepoint(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	files, err := tl.Savepoint(ctx, i)
	for _, names := range files {
		for _, n := range names {
			s.saved[n] = i.Time
		}
	}
	s.savepoints = append(s.savepoints, i)
	return err
}

func (s *services) compaction(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	operations, err := tl.Compaction(ctx, i)
	for _, o := range operations {
		g := groupID{o.Partition, o.FileID}
		have, ok := s.compacting[g]
		if !ok || o.BaseInstant < have.base {
			have.base = o.BaseInstant
		}
		if i.Action == timeline.Compaction {
			have.at = i.Time
		}
		s.compacting[g] = have
		s.plan(o, i)
	}
	return err
}

func (s *services) clustering(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	in, err := tl.Clustering(ctx, i)
	for _, o := range in {
		s.plan(o, i)
	}
	return err
}

func (s *services) plan(o timeline.Slice, i timeline.Instant) {
	for _, name := range o.Files {
		s.planned[plannedFile{o.Partition, name}] = i
	}
}

func (s *services) replace(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	data, err := tl.Read(ctx, i, timeline.Completed)
	if err != nil {
		return err
	}
	m, err := timeline.DecodeCommit(data)
	for partition, ids := range m.Replaced {
		if len(ids) > 0 {
			s.lastReplaced[partition] = max(s.lastReplaced[partition], i.Time)
		}
		for _, id := range ids {
			if have, ok := s.replaced[groupID{partition, id}]; !ok || have.Time < i.Time {
				s.replaced[groupID{partition, id}] = i
			}
		}
	}
	return err
}

// savepointTimes lists the completed savepoints, as a plan's extra metadata does.
func (s *services) savepointTimes() []string {
	var out []string
	for _, i := range s.savepoints {
		out = append(out, i.Time)
	}
	slices.Sort(out)
	return out
}

// oldestReplace is the time of the first replace commit that replaced groups, "" if there is none.
func (s *services) oldestReplace() string {
	oldest := ""
	for _, by := range s.replaced {
		if oldest == "" || by.Time < oldest {
			oldest = by.Time
		}
	}
	return oldest
}
