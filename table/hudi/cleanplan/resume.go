package cleanplan

import (
	"fmt"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/expiry"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// resume makes p the plan of a pending clean.
//
// Errors: Refused for a path outside of the table: a copied or renamed table
// with a pending clean would delete files of the original.
// Source: spec/hudi-clean.md section 6.3 and traps 5 and 6.
func (p *Plan) resume(i timeline.Instant, plan timeline.CleanPlan) error {
	p.Resumes, p.Last, p.Why = i.Time, plan.LastCompleted, "finishes the pending clean "+i.Time
	p.Config.Policy = retain.Policy(plan.Policy)
	names, err := cleandoc.Names(p.t, plan)
	if err != nil {
		return err
	}
	p.pending, p.Extra = names, plan.Extra
	p.rules = expiry.Rules{Config: p.Config, Services: &p.t.Services}
	p.going = make(map[string]bool)
	if e := plan.Earliest; e != nil {
		p.Earliest = &timeline.Instant{Time: e.Timestamp, Action: timeline.Action(e.Action), State: timeline.Completed}
		p.rules.Earliest = e.Timestamp
	}
	for _, d := range plan.DeadPartitions {
		if err := folder.Check(d); err != nil {
			return err
		}
		p.going[d] = true
	}
	for partition := range names {
		p.start = append(p.start, partition)
	}
	slices.Sort(p.start)
	return nil
}

// resumed appends to out rulings on a group by the pending plan. What came to need a file since
// the plan was made stops the clean. A leftover that the plan takes for a slice, as Hudi does, is
// ruled on too: the clean can't complete while it stands.
func (p *Plan) resumed(g *filegroup.Group, out []expiry.Ruling) ([]expiry.Ruling, error) {
	_, replaced := p.rules.Services.Replaced[g.ID]
	newest, _ := p.rules.Landmarks(g)
	for n, s := range slices.Concat(g.Slices, g.Hidden) {
		hidden := n >= len(g.Slices)
		v := expiry.Ruling{Slice: s, Group: g.ID, Newest: s == newest && !replaced, Replaced: replaced, Because: table.Because{Instant: p.Resumes, Action: string(timeline.Clean), Rule: "the pending clean doesn't name it"}}
		named, all := 0, 0
		s.Files(func(f *folder.File) {
			all++
			if p.pending[g.ID.Partition][f.Name] {
				named++
			}
		})
		if named == 0 {
			if !hidden {
				out = append(out, v)
			}
			continue
		}
		hold, held := p.rules.Held(g.ID, s)
		switch {
		case held:
			return nil, p.unsafe(s, hold.Rule)
		case v.Newest:
			return nil, p.unsafe(s, "it is the newest slice of its file group")
		case named < all:
			return nil, p.unsafe(s, "the plan names only a part of the slice")
		case hidden && (len(s.Logs) > 0 || p.t.View.OnTimeline(s.Instant)):
			return nil, p.unsafe(s, "its instant isn't complete")
		}
		v.Dead, v.Reason = true, lake.ExpiredSlice
		if replaced {
			v.Reason = lake.ReplacedGroup
		}
		v.Because.Rule = "the pending clean names it"
		out = append(out, v)
	}
	return out, nil
}

// resumedUnlisted takes out of a folder's unlisted files those that the pending
// plan names, and appends them to out: no reader by the metadata table sees them,
// Hudi deletes them, and the clean can't complete while they stand. It was
// planned by a listing of folders, or the metadata table was made anew since.
// A reader of folders sees them: of a complete write none may be part of what it reads.
func (p *Plan) resumedUnlisted(f *folder.Partition, groups []filegroup.Group, out []lake.Verdict) ([]lake.Verdict, error) {
	var left []folder.File
	for i := range f.Unlisted {
		one := &f.Unlisted[i]
		if !p.pending[f.Path][one.Name] {
			left = append(left, *one)
			continue
		}
		s := &filegroup.Slice{Instant: one.Instant, Logs: []*folder.File{one}}
		if hold, held := p.rules.Held(filegroup.ID{Partition: f.Path, FileID: one.FileID}, s); held {
			return nil, p.unsafe(s, hold.Rule)
		}
		if _, completed := p.t.View.Completed(one.Instant); p.t.View.OnTimeline(one.Instant) && !completed {
			return nil, p.unsafe(s, "its instant isn't complete")
		}
		if why := p.neededByFolders(one, filegroup.ID{Partition: f.Path, FileID: one.FileID}, groups); why != "" {
			return nil, p.unsafe(s, why)
		}
		out = append(out, lake.Verdict{Key: f.Key(one.Name), Size: one.Size, Modified: one.Modified, Reason: lake.ExpiredSlice, ETag: one.ETag})
	}
	f.Unlisted = left
	return out, nil
}

// neededByFolders says why a reader that lists folders needs an unlisted file of
// a complete write, "" if none does: groups are of the listed files.
func (p *Plan) neededByFolders(one *folder.File, id filegroup.ID, groups []filegroup.Group) string {
	done, ok := p.t.View.Completed(one.Instant)
	if _, replaced := p.rules.Services.Replaced[id]; replaced || !ok {
		return ""
	}
	until := one.Instant
	if one.Log && done.Completion != "" {
		until = done.Completion
	}
	i := slices.IndexFunc(groups, func(g filegroup.Group) bool { return g.ID == id })
	if i < 0 || len(groups[i].Slices) == 0 || groups[i].Slices[0].Instant <= until {
		return "by its folder it is of the newest slice of its file group"
	}
	for _, s := range groups[i].Slices {
		whole := true
		s.Files(func(f *folder.File) { whole = whole && p.pending[id.Partition][f.Name] })
		if s.Instant == one.Instant && !whole {
			return "by its folder the plan names only a part of the slice"
		}
	}
	return ""
}

func (p *Plan) unsafe(s *filegroup.Slice, why string) error {
	name := ""
	s.Files(func(f *folder.File) { name = f.Name })
	return &lake.Error{Op: "finish clean " + p.Resumes, Table: p.t.Root.String(), Key: lake.Key(name), Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("%s", why),
		Hint: "The pending clean was planned before this came about. Remove it with Hudi's CLI, then clean anew."}
}
