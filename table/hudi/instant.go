package hudi

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// committed reports whether what an instant wrote is part of the table, as far
// as the timeline and its archive tell.
func (v *view) committed(ctx context.Context, instant string) (bool, error) {
	if i, ok := v.completion.active[instant]; ok {
		return i.State == timeline.Completed, nil
	}
	if instant >= v.completion.start {
		return false, nil
	}
	return v.completion.known(ctx, instant)
}

// completed returns the write of a requested time if the active timeline has it
// and it is complete.
func (v *view) completed(time string) (timeline.Instant, bool) {
	i, ok := v.completion.active[time]
	return i, ok && i.State == timeline.Completed
}

// neverCompleted reports whether an instant that isn't on the timeline was
// never completed for sure.
func (v *view) neverCompleted(ctx context.Context, time string) (bool, error) {
	return v.completion.gone(ctx, time)
}

// onTimeline reports whether any action has a requested time.
func (v *view) onTimeline(time string) bool {
	return slices.ContainsFunc(v.timeline.Instants, func(i timeline.Instant) bool { return i.Time == time })
}

// follow makes onTimeline answer by the timeline as it was read again. What is
// committed stays what it was.
func (v *view) follow(tl *timeline.Timeline) { v.timeline = tl }
