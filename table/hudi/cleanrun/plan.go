package cleanrun

import (
	"maps"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// plan makes the clean's plan: the document's files, and those that are gone
// already but still listed by the metadata table.
func (r *Run) plan() (timeline.CleanPlan, error) {
	p := timeline.CleanPlan{LastCompleted: r.state.Last, Policy: string(r.state.Policy), DeadPartitions: slices.Clone(r.state.Dead), Files: map[string][]timeline.CleanFile{}, Extra: map[string]string{}}
	maps.Copy(p.Extra, r.state.Extra)
	p.Extra[cleandoc.ExtraPlan] = r.o.PlanID
	if e := r.state.Earliest; e != nil {
		claim := *e
		p.Earliest = &claim
	}
	no := false
	add := func(key lake.Key) {
		path := uri(r.t.Root, key)
		p.Files[string(key.Dir())] = append(p.Files[string(key.Dir())], timeline.CleanFile{Path: &path, Bootstrap: &no})
	}
	for v, err := range r.o.Rows() {
		if err != nil {
			return p, err
		}
		if _, ok := parseKey(v.Key); ok && !v.Directory && v.Reason != lake.FailedWrite {
			add(v.Key)
		}
	}
	for partition, names := range r.state.Ghosts {
		for _, n := range names {
			add(folder.Key(partition, n))
		}
	}
	p.DeadPartitions = slices.DeleteFunc(p.DeadPartitions, func(d string) bool { return r.revival.protected(lake.Key(d)) })
	slices.Sort(p.DeadPartitions)
	r.holdBack(&p)
	return p, nil
}

// holdBack makes a clean by versions claim a commit before the first replace
// commit that the plan didn't see complete: while it claims none, writers archive
// up to the clean itself, and the groups that such a one replaces, which stay,
// would come back as rows. By commits and hours no claim passes what is pending.
//
// Source: Hudi 1.2.0, TimelineArchiverV2 and CleanerUtils.getEarliestCommitToRetain; spec/hudi-clean.md section 6.6.
func (r *Run) holdBack(p *timeline.CleanPlan) {
	if retain.Policy(p.Policy) != retain.LatestVersions {
		return
	}
	for _, i := range r.t.Timeline.Instants {
		if i.Action.Comparable() != timeline.ReplaceCommit || i.State == timeline.Completed && slices.Contains(r.state.Timeline, cleandoc.Mark(i)) {
			continue
		}
		if b := r.t.Timeline.WriteBefore(i.Time); b != nil {
			i = *b
		}
		if p.Earliest == nil || i.Time < p.Earliest.Timestamp {
			p.Earliest = &timeline.ActionInstant{Timestamp: i.Time, Action: string(i.Action), State: i.State.String()}
			p.Extra[cleandoc.ExtraAhead] = "true"
		}
		return
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
	if strings.HasPrefix(string(k), timeline.Dir+"/") {
		return datafile.File{}, false
	}
	return datafile.Parse(k.Base())
}
