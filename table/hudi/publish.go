package hudi

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
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
		path := r.t.uri(key)
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
			add((&folder{partition: partition}).key(n))
		}
	}
	p.DeadPartitions = slices.DeleteFunc(p.DeadPartitions, func(d string) bool { return r.revival.protected(lake.Key(d)) })
	slices.Sort(p.DeadPartitions)
	return p, nil
}

func (r *Run) badState(key string, err error) error {
	return &lake.Error{Op: "apply plan", Kind: lake.Damaged, Err: fmt.Errorf("state %s: %w", key, err), Hint: "Make a new plan."}
}
