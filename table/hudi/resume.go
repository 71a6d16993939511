package hudi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/expiry"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// pendingClean returns the oldest clean that isn't complete with its plan, nil
// if there is none. One whose plan has no bytes, left by a crash, counts as
// none. A completed one without bytes counts as pending.
//
// Errors: Damaged for a plan that can't be read.
func (t *Table) pendingClean(ctx context.Context) (*timeline.Instant, timeline.CleanPlan, error) {
	for _, i := range t.timeline.Instants {
		if i.Action != timeline.Clean {
			continue
		}
		if i.State == timeline.Completed {
			data, err := t.timeline.Read(ctx, i, timeline.Completed)
			if err != nil || len(data) > 0 {
				if err != nil {
					return nil, timeline.CleanPlan{}, err
				}
				continue
			}
			return nil, timeline.CleanPlan{}, &lake.Error{Op: "read clean metadata", Key: lake.Key(t.timeline.Dir + "/" + i.Files[timeline.Completed]), Kind: lake.Damaged, Err: fmt.Errorf("the completed clean has no bytes"),
				Hint: "Let a Hudi writer clean once, which repairs this, or remove the file if no writer runs."}
		}
		data, err := t.timeline.Read(ctx, i, timeline.Requested)
		if err != nil {
			return nil, timeline.CleanPlan{}, err
		}
		if len(data) == 0 {
			t.services.Warn("the pending clean " + i.Time + " has an empty plan and is passed over")
			continue
		}
		plan, err := timeline.DecodeCleanPlan(data)
		if err != nil {
			return nil, plan, fmt.Errorf("%s/%s: %w", t.timeline.Dir, i.Files[timeline.Requested], err)
		}
		return &i, plan, nil
	}
	return nil, timeline.CleanPlan{}, nil
}

// resume makes p the plan of a pending clean.
//
// Errors: Refused for a path outside of the table: a copied or renamed table
// with a pending clean would delete files of the original.
// Source: spec/hudi-clean.md section 6.3 and traps 5 and 6.
func (p *Plan) resume(i timeline.Instant, plan timeline.CleanPlan) error {
	p.Resumes, p.Last, p.Why = i.Time, plan.LastCompleted, "finishes the pending clean "+i.Time
	p.Config.Policy = retain.Policy(plan.Policy)
	names, err := p.t.planned(plan)
	if err != nil {
		return err
	}
	p.pending, p.Extra = names, plan.Extra
	p.rules = expiry.Rules{Config: p.Config, Services: &p.t.services}
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

// planned returns the names that a clean's plan holds, by partition.
func (t *Table) planned(plan timeline.CleanPlan) (map[string]map[string]bool, error) {
	out := make(map[string]map[string]bool)
	add := func(partition, name string) error {
		if err := folder.Check(partition); err != nil {
			return err
		}
		if _, ok := datafile.Parse(name); !ok {
			return &lake.Error{Op: "read clean plan", Key: lake.Key(name), Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("the plan names what is no base or log file"),
				Hint: "Let Hudi finish its clean."}
		}
		if out[partition] == nil {
			out[partition] = make(map[string]bool)
		}
		out[partition][name] = true
		return nil
	}
	for partition, names := range plan.FilesV1 {
		for _, n := range names {
			if err := add(partition, lake.Key(n).Base()); err != nil {
				return nil, err
			}
		}
	}
	for partition, files := range plan.Files {
		for _, f := range files {
			if f.Bootstrap != nil && *f.Bootstrap {
				return nil, &lake.Error{Op: "read clean plan", Kind: lake.Unsupported, Err: fmt.Errorf("the plan deletes files that the table was bootstrapped from"), Hint: "Let Hudi finish its clean."}
			}
			if f.Path == nil {
				return nil, &lake.Error{Op: "read clean plan", Kind: lake.Damaged, Err: fmt.Errorf("a file without a path")}
			}
			name, err := t.nameIn(partition, *f.Path)
			if err == nil {
				err = add(partition, name)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// nameIn returns the name of a fully qualified path that must lie in a
// partition of this table.
func (t *Table) nameIn(partition, path string) (string, error) {
	if place, err := lake.ParsePlace(path); err == nil {
		for _, root := range append([]lake.Root{t.root}, t.o.Aliases...) {
			if !root.Contains(place) {
				continue
			}
			key := lake.Key(strings.TrimPrefix(strings.TrimPrefix(place.Path, root.Path), "/"))
			if string(key.Dir()) == partition && key.Base() != "" {
				return key.Base(), nil
			}
		}
	}
	return "", &lake.Error{Op: "read clean plan", Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("the pending clean would delete %s, which is not in the partition %q of this table", path, partition),
		Hint: "The table was copied or renamed with a clean pending. Remove the pending clean with Hudi's CLI (repair corrupted clean files) or by hand."}
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
		case hidden && (len(s.Logs) > 0 || p.t.view.OnTimeline(s.Instant)):
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
		if _, completed := p.t.view.Completed(one.Instant); p.t.view.OnTimeline(one.Instant) && !completed {
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
	done, ok := p.t.view.Completed(one.Instant)
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
	return &lake.Error{Op: "finish clean " + p.Resumes, Table: p.t.root.String(), Key: lake.Key(name), Kind: lake.Refused, Code: "pending_clean", Err: fmt.Errorf("%s", why),
		Hint: "The pending clean was planned before this came about. Remove it with Hudi's CLI, then clean anew."}
}
