package cleanrun

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// skewWait is how long Hudi holds the lock between reading the clock and
// publishing a time, so that clocks may lie that far apart
// (hoodie.time.generator.max_expected_clock_skew_ms).
const skewWait = 200 * time.Millisecond

// maxAhead is how far the timeline's newest time may lie ahead of our clock.
const maxAhead = 5 * time.Minute

// nextTime returns a time for an instant or a completion, later than all on
// both timelines, and waits as Hudi does before it may be published. It must
// be called under the lock.
//
// Errors: Refused if the timeline's newest time lies in the future; Invalid
// for a LOCAL timeline whose zone isn't known.
// Source: spec/hudi-clean.md section 2.3.
func (r *Run) nextTime(ctx context.Context) (string, error) {
	zone, err := r.t.Zone()
	if err != nil {
		return "", err
	}
	now := r.t.Options.Now()
	next := timeline.FormatTime(now, zone)
	last := max(r.t.Timeline.LastTime(), r.instant, r.given)
	if next <= last && len(last) == len(next) {
		at, err := timeline.ParseTime(last, zone)
		if err != nil {
			return "", err
		}
		if at.Sub(now) > maxAhead {
			return "", &lake.Error{Op: "make instant", Kind: lake.Refused, Code: "clock_skew", Err: fmt.Errorf("the timeline's newest time %s lies %s ahead of this machine's clock in %s", last, at.Sub(now).Round(time.Second), zone),
				Hint: "Set the clock, or name the zone of the writers' hosts with --timeline-zone."}
		}
		next = timeline.FormatTime(at.Add(time.Millisecond), zone)
	}
	r.given = next
	return next, r.o.Sleep(ctx, skewWait)
}

// freeInstant returns an instant that no other action has. Hudi 0.x takes the
// clock without the table's lock, so a writer may have taken the same
// millisecond; after the wait what it requested is there. Two actions of one
// instant would share one commit in the metadata table, and the one would take
// back what the other says. It must be called under the lock.
//
// Errors: those of nextTime, and of the store.
// Source: Apache Hudi, HoodieActiveTimeline.createNewInstantTime, which has
// shouldLock since 1.0.
func (r *Run) freeInstant(ctx context.Context) (string, error) {
	for {
		at, err := r.nextTime(ctx)
		if err != nil {
			return "", err
		}
		now, err := r.t.Timeline.Reload(ctx)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(now.Instants, func(i timeline.Instant) bool { return i.Time == at }) {
			return at, nil
		}
	}
}
