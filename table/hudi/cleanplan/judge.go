package cleanplan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/expiry"
	"github.com/lakesweep/lakesweep/table/hudi/filegroup"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// judge rules on one partition: it appends its dead files to out, with its
// folder if that is dead as a whole, and returns what was counted.
func (p *Plan) judge(ctx context.Context, f *folder.Partition, out []lake.Verdict) ([]lake.Verdict, Summary, error) {
	sum := Summary{Candidates: int64(len(f.Files) + len(f.Unlisted)), Unlisted: int64(len(f.Unlisted)), Foreign: int64(len(f.Foreign))}
	if f.Nested {
		// Another table's root: nothing in it is ours, whatever it looks like.
		sum.Foreign, sum.Candidates, sum.Unlisted = sum.Foreign+sum.Candidates, 0, 0
		sum.Warnings = append(sum.Warnings, "another table lies at "+f.Path+" and is left alone")
		return nil, sum, nil
	}
	groups, err := p.t.View.Groups(ctx, f.Path, f.Files)
	if err != nil {
		return nil, sum, err
	}
	out, active, err := p.judgeGroups(groups, out, &sum)
	if err != nil {
		return nil, sum, err
	}
	dead := len(out)
	if p.Resumes != "" {
		if out, err = p.resumedUnlisted(f, groups, out); err != nil {
			return nil, sum, err
		}
		sum.Unlisted -= int64(len(out) - dead)
	}
	sum.Dead = int64(len(out))
	sum.Protected = sum.Candidates - sum.Dead - int64(missing(f.Files))
	whole := !active && p.partitionDead(f, dead)
	if whole {
		for i := range out {
			out[i].Reason = lake.DeadPartition
		}
	}
	if out, err = p.sized(ctx, out); err != nil {
		return nil, sum, err
	}
	if p.Config.Orphans && p.Resumes == "" {
		left := len(out)
		if out, err = p.orphans(ctx, out, f, groups); err != nil {
			return nil, sum, err
		}
		left = len(out) - left
		sum.Dead, sum.Protected, sum.Unlisted = sum.Dead+int64(left), sum.Protected-int64(left), sum.Unlisted-int64(left)
	}
	if whole {
		m := f.Marker
		if out, err = p.append(ctx, out, lake.Verdict{Key: lake.Listed(m.Name), Size: m.Size, Modified: m.Modified, Reason: lake.DeadPartition, ETag: m.ETag}); err != nil {
			return nil, sum, err
		}
		sum.Candidates, sum.Dead = sum.Candidates+1, sum.Dead+1
		sum.DeadPartitions = []string{f.Path}
		out = append(out, lake.Verdict{Key: lake.Key(f.Path), Directory: true, Reason: lake.DeadPartition})
	}
	return out, sum, nil
}

// judgeGroups appends the dead files of a partition's groups to out, counts in
// sum, and reports whether one of the groups wasn't replaced.
func (p *Plan) judgeGroups(groups []filegroup.Group, out []lake.Verdict, sum *Summary) (dead []lake.Verdict, active bool, err error) {
	var ghosts []string
	var rulings []expiry.Ruling
	for i := range groups {
		g := &groups[i]
		if _, replaced := p.rules.Services.Replaced[g.ID]; !replaced {
			active = true
		}
		for _, s := range g.Hidden {
			s.Files(func(*folder.File) { sum.Unlisted++ })
		}
		if rulings, err = p.Rulings(g, rulings[:0]); err != nil {
			return nil, false, err
		}
		for i := range rulings {
			v := &rulings[i]
			p.count(sum, v)
			if !v.Dead {
				continue
			}
			v.Slice.Files(func(one *folder.File) {
				if one.Missing {
					ghosts = append(ghosts, strings.Clone(one.Name))
				} else {
					out = append(out, lake.Verdict{Key: one.Key, Size: one.Size, Modified: one.Modified, Reason: v.Reason, ETag: one.ETag})
				}
			})
		}
	}
	if len(ghosts) > 0 {
		sum.Ghosts = map[string][]string{groups[0].ID.Partition: ghosts}
	}
	return out, active, nil
}

// rule appends to out the rulings on a group: by the policy, or by a pending
// clean's plan.
func (p *Plan) rule(g *filegroup.Group, out []expiry.Ruling) ([]expiry.Ruling, error) {
	if p.Resumes != "" {
		return p.resumed(g, out)
	}
	return p.rules.Group(g, out), nil
}

// partitionDead reports whether the folder of a partition without an active
// group goes too: all files in it are dead, and nothing else is there. Hudi
// removes such folders with all that is in them.
//
// Source: spec/hudi-clean.md section 5.5; careful difference 2.
func (p *Plan) partitionDead(f *folder.Partition, dead int) bool {
	return f.Path != "" && p.t.Partitioned() && f.Marker != nil && (dead > 0 || p.Resumes != "") &&
		dead == len(f.Files)-missing(f.Files) && len(f.Unlisted) == 0 && len(f.Foreign) == 0 && !f.Nested &&
		(p.Resumes != "" && p.going[f.Path] || p.Resumes == "" && (p.Config.Policy == retain.LatestVersions || p.rules.Services.LastReplaced[f.Path] < p.rules.Earliest))
}

func missing(files []folder.File) (n int) {
	for i := range files {
		if files[i].Missing {
			n++
		}
	}
	return n
}

// count adds the files of a slice that stays, and notes groups that were
// replaced before the earliest commit and stay all the same.
func (p *Plan) count(sum *Summary, v *expiry.Ruling) {
	if !v.Dead {
		v.Slice.Files(func(f *folder.File) {
			sum.LiveFiles++
			if !f.Missing {
				sum.LiveBytes += max(f.Size, 0)
				return
			}
			sum.MissingCount++
			if len(sum.LiveMissing) < sample {
				sum.LiveMissing = append(sum.LiveMissing, string(folder.Key(v.Group.Partition, f.Name)))
			}
		})
	}
	if v.Replaced && !v.Dead && v.Because.Action != "savepoint" {
		by := p.rules.Services.Replaced[v.Group].Time
		if (by < p.rules.Earliest || p.Config.Policy == retain.LatestVersions) && (sum.HeldBack == "" || by < sum.HeldBack) {
			sum.HeldBack = by
		}
	}
}

// sized looks up sizes that neither the listing nor the metadata table gave.
func (p *Plan) sized(ctx context.Context, list []lake.Verdict) (out []lake.Verdict, err error) {
	if !slices.ContainsFunc(list, func(v lake.Verdict) bool { return v.Size < 0 }) {
		return list, nil
	}
	for _, v := range list {
		if v.Size >= 0 {
			out = append(out, v)
		} else if out, err = p.append(ctx, out, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// append adds a verdict, with size and time by a stat where the listing didn't
// give them.
func (p *Plan) append(ctx context.Context, list []lake.Verdict, v lake.Verdict) ([]lake.Verdict, error) {
	if v.Modified.IsZero() {
		i, err := p.t.Reader.Stat(ctx, string(v.Key))
		if errors.Is(err, fs.ErrNotExist) {
			return list, nil // deleted since it was listed
		}
		if err != nil {
			return nil, store.Fail("stat", p.t.Root, string(v.Key), err)
		}
		v.Size, v.Modified, v.ETag = i.Size, i.Modified, i.ETag
	}
	return append(list, v), nil
}

// Rulings appends a group's to out. Where the plan does nothing, every slice
// stays.
func (p *Plan) Rulings(g *filegroup.Group, out []expiry.Ruling) ([]expiry.Ruling, error) {
	if !p.Nothing {
		return p.rule(g, out)
	}
	_, replaced := p.t.Services.Replaced[g.ID]
	for i, s := range g.Slices {
		newest := i == 0 && !replaced
		rule := "an older slice of its file group, which no clean takes now: " + p.Why
		switch {
		case newest:
			rule = "the newest slice of its file group; nor is a clean due: " + p.Why
		case replaced:
			rule = "its file group was replaced, but no clean takes it now: " + p.Why
		}
		out = append(out, expiry.Ruling{Slice: s, Group: g.ID, Newest: newest, Because: table.Because{Action: "retained", Rule: rule}})
	}
	return out, nil
}
