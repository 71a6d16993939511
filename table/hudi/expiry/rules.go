package expiry

import (
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Rules is a policy as it applies to one table at one time.
type Rules struct {
	Config   retain.Config
	Services *filegroup.Services
	Earliest string // "" for none
}

// Ruling is what becomes of one slice.
type Ruling struct {
	Slice    *filegroup.Slice
	Group    filegroup.ID
	Dead     bool
	Newest   bool // the group's newest slice: what a snapshot reads
	Replaced bool
	Reason   lake.Reason // of a dead one
	Because  table.Because
}

// Group appends to out the rulings on the committed slices of a group, newest
// first.
//
// Source: Hudi 1.2.0, CleanPlanner; spec/hudi-clean.md section 5.5;
// careful difference 1. A slice that lacks a file never counts as one that is kept.
func (r *Rules) Group(g *filegroup.Group, out []Ruling) []Ruling {
	if by, ok := r.Services.Replaced[g.ID]; ok {
		for _, s := range g.Slices {
			out = append(out, r.replacedSlice(g, s, by))
		}
		return out
	}
	newest, before := r.Landmarks(g)
	left := r.versions(g)
	for _, s := range g.Slices {
		v := Ruling{Slice: s, Group: g.ID, Newest: s == newest}
		if hold, held := r.Held(g.ID, s); held {
			v.Because = hold
			if s.Whole() && hold.Action != string(timeline.Compaction) && hold.Action != string(timeline.LogCompaction) {
				left-- // uses up a place
			}
		} else if r.Config.Policy == retain.LatestVersions {
			v.Dead, v.Because = left <= 0, table.Because{Action: "versions", Rule: "one of the latest versions retained"}
			if s.Whole() {
				left--
			}
		} else {
			v.Dead, v.Because = r.byCommit(s, newest, before)
		}
		if v.Dead {
			v.Reason = lake.ExpiredSlice
			v.Because = table.Because{Instant: r.Earliest, Action: "expired", Rule: "no retained commit reads this slice"}
		}
		out = append(out, v)
	}
	return out
}

// Landmarks returns the newest whole slice and the newest whole one before the
// earliest commit to retain.
func (r *Rules) Landmarks(g *filegroup.Group) (newest, before *filegroup.Slice) {
	for _, s := range g.Slices {
		if !s.Whole() {
			continue
		}
		if newest == nil {
			newest = s
		}
		if s.Instant < r.Earliest && before == nil {
			before = s
		}
	}
	return newest, before
}

// versions returns how many slices of a group stay that no pending compaction
// needs: the compaction's result will be one more.
func (r *Rules) versions(g *filegroup.Group) int {
	if _, ok := r.Services.Compacting[g.ID]; ok {
		return r.Config.Versions - 1
	}
	return r.Config.Versions
}

func (r *Rules) byCommit(s, newest, before *filegroup.Slice) (dead bool, because table.Because) {
	switch {
	case newest == nil || s.Instant >= newest.Instant:
		return false, table.Because{Instant: s.Instant, Action: "latest", Rule: "the newest slice of its file group"}
	case s == before:
		return false, table.Because{Instant: r.Earliest, Action: "retained", Rule: "the slice that the earliest retained commit reads"}
	case s.Instant >= r.Earliest:
		return false, table.Because{Instant: r.Earliest, Action: "retained", Rule: "not older than the earliest commit to retain"}
	}
	return true, table.Because{}
}

// Held reports what else needs a slice: a pending plan or a savepoint.
func (r *Rules) Held(id filegroup.ID, s *filegroup.Slice) (table.Because, bool) {
	if c, ok := r.Services.Compacting[id]; ok && s.Instant >= c.Base {
		return table.Because{Instant: c.Base, Action: "compaction", Rule: "a pending compaction works on this slice or a later one writes on top of it"}, true
	}
	if len(r.Services.Planned)+len(r.Services.Saved) == 0 {
		return table.Because{}, false
	}
	var why table.Because
	s.Files(func(f *folder.File) {
		if i, ok := r.Services.Planned[filegroup.PlannedFile{Partition: id.Partition, Name: f.Name}]; ok {
			why = table.Because{Instant: i.Time, Action: string(i.Action), Rule: "a pending plan names a file of this slice"}
		}
	})
	if why.Action != "" {
		return why, true
	}
	s.Files(func(f *folder.File) {
		if at, ok := r.Services.Saved[f.Name]; ok {
			why = table.Because{Instant: at, Action: "savepoint", Rule: "a savepoint holds a file of this slice"}
		}
	})
	return why, why.Action != ""
}

// replacedSlice rules on a slice of a group that a replace commit replaced.
func (r *Rules) replacedSlice(g *filegroup.Group, s *filegroup.Slice, by timeline.Instant) Ruling {
	v := Ruling{Slice: s, Group: g.ID, Replaced: true}
	switch hold, held := r.Held(g.ID, s); {
	case held:
		v.Because = hold
	case r.Config.Policy != retain.LatestVersions && by.Time >= r.Earliest:
		v.Because = table.Because{Instant: by.Time, Action: string(timeline.ReplaceCommit), Rule: "replaced, but not before the earliest commit to retain " + r.Earliest}
	default:
		v.Dead, v.Reason = true, lake.ReplacedGroup
		v.Because = table.Because{Instant: by.Time, Action: string(timeline.ReplaceCommit), Rule: "its file group was replaced"}
	}
	return v
}

// Verdict is what explain calls the ruling.
func (v Ruling) Verdict() string {
	switch {
	case v.Dead:
		return "dead"
	case v.Newest:
		return "live"
	}
	return "history"
}
