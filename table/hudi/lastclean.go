package hudi

import (
	"context"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// lastClean is the last completed clean of the timeline.
type lastClean struct {
	instant timeline.Instant
	meta    timeline.CleanMetadata
}

// readLastClean reads the last completed clean, nil if there is none.
//
// Errors: Damaged, also for one without bytes.
func readLastClean(ctx context.Context, tl *timeline.Timeline) (*lastClean, error) {
	var l *lastClean
	for _, i := range tl.Instants {
		if i.Action == timeline.Clean && i.State == timeline.Completed {
			l = &lastClean{instant: i}
		}
	}
	if l == nil {
		return nil, nil
	}
	data, err := tl.Read(ctx, l.instant, timeline.Completed)
	if err != nil {
		return nil, err
	}
	l.meta, err = timeline.DecodeCleanMetadata(data)
	return l, err
}
