package filegroup

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Committed reports whether what an instant wrote is part of the table, as far
// as the timeline and its archive tell.
func (v *View) Committed(ctx context.Context, instant string) (bool, error) {
	if i, ok := v.completion.active[instant]; ok {
		return i.State == timeline.Completed, nil
	}
	if instant >= v.completion.start {
		return false, nil
	}
	return v.completion.known(ctx, instant)
}

// Completed returns the write of a requested time if the active timeline has it
// and it is complete.
func (v *View) Completed(time string) (timeline.Instant, bool) {
	i, ok := v.completion.active[time]
	return i, ok && i.State == timeline.Completed
}

// NeverCompleted reports whether an instant that isn't on the timeline was
// never completed for sure.
func (v *View) NeverCompleted(ctx context.Context, time string) (bool, error) {
	return v.completion.gone(ctx, time)
}

// OnTimeline reports whether any action has a requested time.
func (v *View) OnTimeline(time string) bool {
	return slices.ContainsFunc(v.timeline.Instants, func(i timeline.Instant) bool { return i.Time == time })
}

// Follow makes OnTimeline answer by the timeline as it was read again. What is
// committed stays what it was.
func (v *View) Follow(tl *timeline.Timeline) { v.timeline = tl }
