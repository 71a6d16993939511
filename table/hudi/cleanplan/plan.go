package cleanplan

import (
	"context"
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/expiry"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/snapshot"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Plan is a clean that is planned but nowhere written. Its Verdicts are read
// once; the Summary is complete when they have ended without an error.
type Plan struct {
	Config      retain.Config
	Earliest    *timeline.Instant // the policy's earliest commit to retain, nil for none
	Last        string            // requested time of the last completed commit
	Why         string            // why there is nothing to do, or how the earliest commit came about
	Incremental bool              // only partitions touched since the last clean are looked at
	Nothing     bool              // there is nothing to do, whatever the files are
	Extra       map[string]string // extra metadata of the clean's plan
	Resumes     string            // the pending clean that is finished instead, "" for a new one
	Schemas     []string          // of the commits that planning read, as Avro JSON
	Summary     Summary

	t       *snapshot.Table
	rules   expiry.Rules
	last    *cleandoc.Clean            // nil if there was none
	pending map[string]map[string]bool // of a pending clean: partition → names
	going   map[string]bool            // of a pending clean: partitions to be deleted
	start   []string
	descend bool
}

// New works out which partitions a clean would look at and by which rules.
// It reads the timeline only.
//
// A clean that is pending already, anybody's, is finished before a new one is
// planned: the plan is that clean's then, whatever c says.
//
// Errors: Invalid, Damaged; Refused for a pending clean that can't be carried
// out, and while a restore, or the rollback of a complete write, is pending.
func New(ctx context.Context, t *snapshot.Table, c retain.Config) (*Plan, error) {
	p, err := makePlan(ctx, t, c)
	return p, t.Wrap(err)
}

func makePlan(ctx context.Context, t *snapshot.Table, c retain.Config) (*Plan, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := Unwinding(ctx, t); err != nil {
		return nil, err
	}
	p := &Plan{Config: c, t: t, Extra: map[string]string{}}
	p.Summary.Ghosts = map[string][]string{}
	if i, plan, err := cleandoc.Pending(ctx, t); err != nil || i != nil {
		if err != nil {
			return nil, err
		}
		return p, p.resume(*i, plan)
	}
	writes := t.Timeline.Writes()
	if len(writes) == 0 {
		return p.nothing("no completed commit")
	}
	p.Last = writes[len(writes)-1].Time
	last, err := cleandoc.Last(ctx, t.Timeline)
	if err != nil {
		return nil, err
	}
	p.last = last
	if since := commitsSince(writes, last); since < c.TriggerCommits {
		return p.nothing(fmt.Sprintf("%d commits since the last clean, %d are wanted", since, c.TriggerCommits))
	}
	if p.Earliest, p.Why, err = expiry.Earliest(t.Timeline, c, t.Options.Now(), t.Zone, p.claimed()); err != nil {
		return nil, err
	}
	p.rules = expiry.Rules{Config: c, Services: &t.Services}
	if p.Earliest != nil {
		p.rules.Earliest = p.Earliest.Time
	} else if c.Policy != retain.LatestVersions {
		return p.nothing(p.Why)
	}
	if len(t.Services.Savepoints) > 0 { // until the next clean writers archive nothing that one of them holds
		p.Extra["savepointed_timestamps"] = strings.Join(t.Services.SavepointTimes(), ",")
	}
	return p, p.choose(ctx, last)
}

// nothing makes p a plan of no clean. With Config.Orphans all partitions are
// looked at for leftovers all the same.
func (p *Plan) nothing(why string) (*Plan, error) {
	p.Nothing, p.Why = true, why
	p.rules.Services = &p.t.Services
	if !p.Config.Orphans {
		return p, nil
	}
	var err error
	p.start, p.descend, err = p.t.Folders.All()
	return p, err
}

func commitsSince(writes []timeline.Instant, last *cleandoc.Clean) int {
	if last == nil {
		return len(writes)
	}
	n := 0
	for _, w := range writes {
		if w.Time > last.Meta.LastCompleted {
			n++
		}
	}
	return n
}
