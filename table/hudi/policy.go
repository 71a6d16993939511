package hudi

import (
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// rules is a policy as it applies to one table at one time.
type rules struct {
	c        retain.Config
	services *filegroup.Services
	earliest string          // "" for none
	dead     map[string]bool // of a pending clean: partitions to be deleted
}

// ruling is what becomes of one slice.
type ruling struct {
	slice    *filegroup.Slice
	group    filegroup.ID
	dead     bool
	newest   bool // the group's newest slice: what a snapshot reads
	replaced bool
	reason   lake.Reason // of a dead one
	because  table.Because
}

// group appends to out the rulings on the committed slices of a group, newest
// first.
//
// Source: Hudi 1.2.0, CleanPlanner; spec/hudi-clean.md section 5.5; careful
// difference 1. A slice that lacks a file never counts as one that is kept.
func (r *rules) group(g *filegroup.Group, out []ruling) []ruling {
	if by, ok := r.services.Replaced[g.ID]; ok {
		for _, s := range g.Slices {
			out = append(out, r.replacedSlice(g, s, by))
		}
		return out
	}
	newest, before := r.landmarks(g)
	left := r.versions(g)
	for _, s := range g.Slices {
		v := ruling{slice: s, group: g.ID, newest: s == newest}
		if hold, held := r.held(g.ID, s); held {
			v.because = hold
			if s.Whole() && hold.Action != string(timeline.Compaction) && hold.Action != string(timeline.LogCompaction) {
				left-- // uses up a place
			}
		} else if r.c.Policy == retain.LatestVersions {
			v.dead, v.because = left <= 0, table.Because{Action: "versions", Rule: "one of the latest versions retained"}
			if s.Whole() {
				left--
			}
		} else {
			v.dead, v.because = r.byCommit(s, newest, before)
		}
		if v.dead {
			v.reason = lake.ExpiredSlice
			v.because = table.Because{Instant: r.earliest, Action: "expired", Rule: "no retained commit reads this slice"}
		}
		out = append(out, v)
	}
	return out
}

// landmarks returns the newest whole slice and the newest whole one before the
// earliest commit to retain.
func (r *rules) landmarks(g *filegroup.Group) (newest, before *filegroup.Slice) {
	for _, s := range g.Slices {
		if !s.Whole() {
			continue
		}
		if newest == nil {
			newest = s
		}
		if s.Instant < r.earliest && before == nil {
			before = s
		}
	}
	return newest, before
}

// versions returns how many slices of a group stay that no pending compaction
// needs: the compaction's result will be one more.
func (r *rules) versions(g *filegroup.Group) int {
	if _, ok := r.services.Compacting[g.ID]; ok {
		return r.c.Versions - 1
	}
	return r.c.Versions
}

func (r *rules) byCommit(s, newest, before *filegroup.Slice) (dead bool, because table.Because) {
	switch {
	case newest == nil || s.Instant >= newest.Instant:
		return false, table.Because{Instant: s.Instant, Action: "latest", Rule: "the newest slice of its file group"}
	case s == before:
		return false, table.Because{Instant: r.earliest, Action: "retained", Rule: "the slice that the earliest retained commit reads"}
	case s.Instant >= r.earliest:
		return false, table.Because{Instant: r.earliest, Action: "retained", Rule: "not older than the earliest commit to retain"}
	}
	return true, table.Because{}
}

// held reports what else needs a slice: a pending plan or a savepoint.
func (r *rules) held(id filegroup.ID, s *filegroup.Slice) (table.Because, bool) {
	if c, ok := r.services.Compacting[id]; ok && s.Instant >= c.Base {
		return table.Because{Instant: c.Base, Action: "compaction", Rule: "a pending compaction works on this slice or a later one writes on top of it"}, true
	}
	if len(r.services.Planned)+len(r.services.Saved) == 0 {
		return table.Because{}, false
	}
	var why table.Because
	s.Files(func(f *folder.File) {
		if i, ok := r.services.Planned[filegroup.PlannedFile{Partition: id.Partition, Name: f.Name}]; ok {
			why = table.Because{Instant: i.Time, Action: string(i.Action), Rule: "a pending plan names a file of this slice"}
		}
	})
	if why.Action != "" {
		return why, true
	}
	s.Files(func(f *folder.File) {
		if at, ok := r.services.Saved[f.Name]; ok {
			why = table.Because{Instant: at, Action: "savepoint", Rule: "a savepoint holds a file of this slice"}
		}
	})
	return why, why.Action != ""
}

// replacedSlice rules on a slice of a group that a replace commit replaced.
func (r *rules) replacedSlice(g *filegroup.Group, s *filegroup.Slice, by timeline.Instant) ruling {
	v := ruling{slice: s, group: g.ID, replaced: true}
	switch hold, held := r.held(g.ID, s); {
	case held:
		v.because = hold
	case r.c.Policy != retain.LatestVersions && by.Time >= r.earliest:
		v.because = table.Because{Instant: by.Time, Action: string(timeline.ReplaceCommit), Rule: "replaced, but not before the earliest commit to retain " + r.earliest}
	default:
		v.dead, v.reason = true, lake.ReplacedGroup
		v.because = table.Because{Instant: by.Time, Action: string(timeline.ReplaceCommit), Rule: "its file group was replaced"}
	}
	return v
}
