package hudi

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// State returns what a plan document has to remember of the clean. It is
// complete once Verdicts has ended.
func (p *Plan) State() (map[string]string, error) {
	s := map[string]string{statePolicy: string(p.Config.Policy), stateLast: p.lastCompleted(), stateTimeline: timelineMark(p.t.timeline), stateWrites: writesMark(p.t.timeline), stateNothing: strconv.FormatBool(p.Nothing), stateResumes: p.Resumes, stateListing: strconv.FormatBool(mdt.Available(p.t.properties))}
	claim, err := p.Claim()
	if err != nil {
		return nil, err
	}
	s[stateEmpty] = strconv.FormatBool(p.emptyClean(claim))
	if claim != nil {
		if err := put(s, stateEarliest, timeline.ActionInstant{Timestamp: claim.Time, Action: string(claim.Action), State: claim.State.String()}); err != nil {
			return nil, err
		}
	}
	if p.Resumes == "" && (p.ahead() || claim != nil && p.Config.Policy == retain.LatestVersions) {
		p.Extra[extraAhead] = "true"
	}
	for key, v := range map[string]any{stateExtra: p.Extra, stateDead: p.Summary.DeadPartitions, stateGhosts: p.Summary.Ghosts} {
		if err := put(s, key, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// emptyClean reports whether a clean is worth recording though nothing dies:
// it moves the earliest commit to retain, so that the next one looks at fewer
// commits.
//
// Source: spec/hudi-clean.md section 5.6.
func (p *Plan) emptyClean(claim *timeline.Instant) bool {
	c := p.Config
	if claim == nil || p.Earliest == nil || c.EmptyCleanHours < 1 || !c.Incremental || p.Resumes != "" {
		return false
	}
	if p.last == nil {
		return true
	}
	zone, err := p.t.zone()
	if err != nil {
		return false
	}
	at, err := timeline.ParseTime(p.last.instant.Time, zone)
	return err == nil && claim.Time >= p.last.meta.Earliest && p.t.o.Now().Sub(at) >= time.Duration(c.EmptyCleanHours)*time.Hour
}

func put(s map[string]string, key string, v any) error {
	data, err := json.Marshal(v)
	s[key] = string(data)
	return err
}
