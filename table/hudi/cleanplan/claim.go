package cleanplan

import (
	"errors"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Claim returns the earliest commit to retain that the clean may claim, nil
// for none: not one beyond a replace commit whose groups partly stay; and for a
// clean that leaves files to a later one, or looked at some partitions only by
// wish, that of the clean before. For a clean that claims none, as all do under
// LatestVersions, writers archive up to the clean itself; so one that leaves
// replaced groups behind claims their replace commit instead.
//
// Source: spec/hudi-clean.md section 10, traps 1 and 2.
func (p *Plan) Claim() (*timeline.Instant, error) {
	held := p.Summary.HeldBack
	switch {
	case p.Config.Policy == retain.LatestVersions && p.Resumes == "":
		if p.partial() {
			held = p.t.Services.OldestReplace()
		}
	case p.Earliest == nil:
		return nil, nil
	case p.partial():
		if before := p.claimBefore(); before != nil {
			return before, nil
		}
		held = p.t.Services.OldestReplace()
	case held == "" || held >= p.Earliest.Time:
		return p.Earliest, nil
	}
	if held == "" {
		return nil, nil
	}
	if i, ok := p.t.Timeline.Find(held, timeline.ReplaceCommit); ok {
		return &i, nil
	}
	return nil, errors.New("the replace commit " + held + " is gone from the timeline")
}

// partial reports whether the plan leaves out partitions, or dead files.
func (p *Plan) partial() bool { return p.Config.Filtered() || p.Summary.Left > 0 }

// ahead reports whether what a partial clean claims is no clean's: there is
// none before it that looked at all partitions. The next one has to.
func (p *Plan) ahead() bool {
	return p.partial() && (p.claimed() == "" || p.last.Meta.Extra[cleandoc.ExtraAhead] != "")
}

// claimed is the earliest commit to retain that the last clean claims, "" for
// none.
func (p *Plan) claimed() string {
	if p.last == nil {
		return ""
	}
	return p.last.Meta.Earliest
}

// claimBefore is what the clean before claims, also where the commit is archived.
func (p *Plan) claimBefore() *timeline.Instant {
	at := p.claimed()
	if at == "" {
		return nil
	}
	for _, i := range p.t.Timeline.Writes() {
		if i.Time == at {
			return &i
		}
	}
	return &timeline.Instant{Time: at, Action: timeline.Commit, State: timeline.Completed}
}

// lastCompleted is the commit up to which the clean says that it has looked:
// a part of a split one goes on from where the clean before ended.
func (p *Plan) lastCompleted() string {
	switch {
	case p.Summary.Left == 0:
		return p.Last
	case p.last == nil:
		return ""
	}
	return p.last.Meta.LastCompleted
}

// Cutoff is the instant before which files expired: that of the earliest
// commit to retain. It is zero where there is none, or its zone isn't known.
func (p *Plan) Cutoff() time.Time {
	if p.Earliest == nil {
		return time.Time{}
	}
	zone, err := p.t.Zone()
	if err != nil {
		return time.Time{}
	}
	at, err := timeline.ParseTime(p.Earliest.Time, zone)
	if err != nil {
		return time.Time{} // instants that are no times
	}
	return at
}
