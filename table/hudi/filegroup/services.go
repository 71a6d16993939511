package filegroup

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// ID names a file group: ids are unique in a partition, not in a table.
type ID struct{ Partition, FileID string }

// Services is what savepoints, pending plans and replace commits say of files.
type Services struct {
	Savepoints   []timeline.Instant               // completed ones
	Saved        map[string]string                // file name → time of a savepoint that holds it; names of all partitions, as Hudi compares them
	Compacting   map[ID]Compaction                // (log) compactions
	Planned      map[PlannedFile]timeline.Instant // files that a pending plan names
	Replaced     map[ID]timeline.Instant          // by the latest completed replace commit
	LastReplaced map[string]string                // partition → time of its latest replace commit
	Newest       Replacement                      // the latest completed replace commit
	Warnings     []string
}

// Replacement is a replace commit with the schema that it holds, "" for none.
// The zero one is none.
type Replacement struct{ Time, Schema string }

// PlannedFile is a file that a plan names.
type PlannedFile struct{ Partition, Name string }

// Compaction says that slices from the instant Base on are needed. At is the
// instant of a compaction, "" of a log compaction alone.
type Compaction struct{ Base, At string }

// ReadServices reads every pending plan, savepoint and replace commit.
//
// Memory: some 100 bytes for each file named.
// Errors: Damaged: what can't be read might protect anything.
func ReadServices(ctx context.Context, tl *timeline.Timeline) (Services, error) {
	s := Services{Saved: make(map[string]string), Compacting: make(map[ID]Compaction), Planned: make(map[PlannedFile]timeline.Instant), Replaced: make(map[ID]timeline.Instant), LastReplaced: make(map[string]string)}
	for _, i := range tl.Instants {
		var err error
		switch {
		case i.Action == timeline.Savepoint && i.State == timeline.Completed:
			err = s.savepoint(ctx, tl, i)
		case i.Action == timeline.Savepoint:
			s.Warnings = append(s.Warnings, "savepoint "+i.Time+" is not complete and holds nothing")
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

func (s *Services) savepoint(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	files, err := tl.Savepoint(ctx, i)
	for _, names := range files {
		for _, n := range names {
			s.Saved[n] = i.Time
		}
	}
	s.Savepoints = append(s.Savepoints, i)
	return err
}

func (s *Services) compaction(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	operations, err := tl.Compaction(ctx, i)
	for _, o := range operations {
		g := ID{o.Partition, o.FileID}
		have, ok := s.Compacting[g]
		if !ok || o.BaseInstant < have.Base {
			have.Base = o.BaseInstant
		}
		if i.Action == timeline.Compaction {
			have.At = i.Time
		}
		s.Compacting[g] = have
		s.plan(o, i)
	}
	return err
}

func (s *Services) clustering(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	in, err := tl.Clustering(ctx, i)
	for _, o := range in {
		s.plan(o, i)
	}
	return err
}

func (s *Services) plan(o timeline.Slice, i timeline.Instant) {
	for _, name := range o.Files {
		s.Planned[PlannedFile{o.Partition, name}] = i
	}
}

func (s *Services) replace(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) error {
	data, err := tl.Read(ctx, i, timeline.Completed)
	if err != nil {
		return err
	}
	m, err := timeline.DecodeCommit(data)
	s.Newest = Replacement{i.Time, m.Schema()}
	for partition, ids := range m.Replaced {
		if len(ids) > 0 {
			s.LastReplaced[partition] = max(s.LastReplaced[partition], i.Time)
		}
		for _, id := range ids {
			if have, ok := s.Replaced[ID{partition, id}]; !ok || have.Time < i.Time {
				s.Replaced[ID{partition, id}] = i
			}
		}
	}
	return err
}

// SavepointTimes lists the completed savepoints, as a plan's extra metadata does.
func (s *Services) SavepointTimes() []string {
	var out []string
	for _, i := range s.Savepoints {
		out = append(out, i.Time)
	}
	slices.Sort(out)
	return out
}

// OldestReplace is the time of the first replace commit that replaced groups, "" if there is none.
func (s *Services) OldestReplace() string {
	oldest := ""
	for _, by := range s.Replaced {
		if oldest == "" || by.Time < oldest {
			oldest = by.Time
		}
	}
	return oldest
}

// Warn notes what the user should know, once.
func (s *Services) Warn(text string) {
	if !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}
