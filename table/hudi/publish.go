package hudi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/folder"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// plan makes the clean's plan: the document's files, and those that are gone
// already but still listed by the metadata table.
func (r *Run) plan() (timeline.CleanPlan, error) {
	s := r.o.State
	p := timeline.CleanPlan{LastCompleted: s[stateLast], Policy: s[statePolicy], Files: map[string][]timeline.CleanFile{}, Extra: map[string]string{}}
	var ghosts map[string][]string
	for key, to := range map[string]any{stateExtra: &p.Extra, stateDead: &p.DeadPartitions, stateGhosts: &ghosts} {
		if err := json.Unmarshal([]byte(s[key]), to); err != nil {
			return p, r.badState(key, err)
		}
	}
	if p.Extra == nil {
		p.Extra = map[string]string{}
	}
	p.Extra[extraPlan] = r.o.PlanID
	if text := s[stateEarliest]; text != "" {
		p.Earliest = &timeline.ActionInstant{}
		if err := json.Unmarshal([]byte(text), p.Earliest); err != nil {
			return p, r.badState(stateEarliest, err)
		}
	}
	no := false
	add := func(key lake.Key) {
		path := uri(r.t.root, key)
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
	for partition, names := range ghosts {
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
	planned := strings.Split(r.o.State[stateTimeline], "\n")
	for _, i := range r.t.timeline.Instants {
		if i.Action.Comparable() != timeline.ReplaceCommit || i.State == timeline.Completed && slices.Contains(planned, mark(i)) {
			continue
		}
		if b := r.t.timeline.WriteBefore(i.Time); b != nil {
			i = *b
		}
		if p.Earliest == nil || i.Time < p.Earliest.Timestamp {
			p.Earliest = &timeline.ActionInstant{Timestamp: i.Time, Action: string(i.Action), State: i.State.String()}
			p.Extra[extraAhead] = "true"
		}
		return
	}
}

func (r *Run) badState(key string, err error) error {
	return &lake.Error{Op: "apply plan", Kind: lake.Damaged, Err: fmt.Errorf("state %s: %w", key, err), Hint: "Make a new plan."}
}
