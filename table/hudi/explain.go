package hudi

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// Explain says why a file would stay or go under a policy.
//
// Errors: as Plan and Verdicts.
func (t *Table) Explain(ctx context.Context, key lake.Key, c retain.Config) (table.Explanation, error) {
	x := table.Explanation{Path: string(key)}
	say := func(verdict, action, rule string) (table.Explanation, error) {
		x.Verdict = verdict
		x.Because = append(x.Because, table.Because{Action: action, Rule: rule})
		return x, nil
	}
	if key == Dir || key.Below(Dir) {
		return say("hidden", "hidden", "what lies in .hoodie is never a candidate")
	}
	f, _, err := t.snap.Folders.List(ctx, string(key.Dir()))
	if err == nil {
		err = t.snap.Folders.Reconcile(&f)
	}
	if err != nil {
		return x, t.snap.Wrap(err)
	}
	p, err := t.look(ctx, c)
	if err != nil {
		return x, err
	}
	name := key.Base()
	named := func(f folder.File) bool { return f.Name == name }
	switch i := slices.IndexFunc(f.Files, named); {
	case i >= 0:
		return t.explain(ctx, p, x, f, f.Files[i])
	case slices.ContainsFunc(f.Unlisted, named):
		return say("young", "unlisted", "the metadata table doesn't list it: it belongs to no completed commit, as far as is known")
	case f.Marker != nil && f.Marker.Name == string(key):
		return say("live", "partition", "it makes its folder a partition, and goes only with the partition")
	case slices.Contains(f.Foreign, name):
		return say("foreign", "name", "by its name it is neither a base file nor a log file of the table")
	}
	return say("absent", "absent", "nothing stands there in storage")
}

func (t *Table) explain(ctx context.Context, p *cleanplan.Plan, x table.Explanation, f folder.Partition, of folder.File) (table.Explanation, error) {
	if of.Missing {
		x.Because = append(x.Because, table.Because{Action: "absent", Rule: "the metadata table lists it, but nothing stands there in storage"})
	}
	groups, err := t.snap.View.Groups(ctx, f.Path, f.Files)
	if err != nil {
		return x, t.snap.Wrap(err)
	}
	for _, g := range groups {
		if g.ID.FileID != of.FileID {
			continue
		}
		for _, s := range g.Hidden {
			if s.Has(of.File) {
				x.Verdict = "young"
				x.Because = append(x.Because, table.Because{Instant: s.Instant, Action: "uncommitted", Rule: "its instant is not complete, or unknown to the timeline"})
			}
		}
		rulings, err := p.Rulings(&g, nil)
		if err != nil {
			return x, err
		}
		for _, v := range rulings {
			if v.Slice.Has(of.File) {
				x.Verdict, x.Because = v.Verdict(), append(x.Because, v.Because)
			}
		}
	}
	switch {
	case of.Missing:
		x.Verdict = "absent"
	case x.Verdict == "dead" && p.Incremental && !slices.Contains(p.Partitions(), f.Path):
		x.Verdict = "history"
		x.Because = append(x.Because, table.Because{Action: "incremental", Rule: "its partition was not touched since the last clean and is not looked at; a clean that isn't incremental would take it"})
	}
	return x, nil
}
