package cleanplan

import (
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// State returns what a plan document has to remember of the clean. It is
// complete once Verdicts has ended.
func (p *Plan) State() (map[string]string, error) {
	claim, err := p.Claim()
	if err != nil {
		return nil, err
	}
	if p.Resumes == "" && (p.ahead() || claim != nil && p.Config.Policy == retain.LatestVersions) {
		p.Extra[cleandoc.ExtraAhead] = "true"
	}
	s := cleandoc.State{Policy: p.Config.Policy, Last: p.lastCompleted(), Extra: p.Extra, Dead: p.Summary.DeadPartitions, Ghosts: p.Summary.Ghosts,
		Timeline: cleandoc.Marks(p.t.Timeline.Filter(cleandoc.Matters)), Writes: cleandoc.Marks(p.t.Timeline.Writes()), Nothing: p.Nothing, Resumes: p.Resumes, Empty: p.emptyClean(claim), Listing: mdt.Available(p.t.Properties)}
	if claim != nil {
		s.Earliest = &timeline.ActionInstant{Timestamp: claim.Time, Action: string(claim.Action), State: claim.State.String()}
	}
	return s.Encode()
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
	zone, err := p.t.Zone()
	if err != nil {
		return false
	}
	at, err := timeline.ParseTime(p.last.Instant.Time, zone)
	return err == nil && claim.Time >= p.last.Meta.Earliest && p.t.Options.Now().Sub(at) >= time.Duration(c.EmptyCleanHours)*time.Hour
}
