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

// lastClean reads the last completed clean, nil if there is none.
//
// Errors: Damaged, also for one without bytes.
func (t *Table) lastClean(ctx context.Context) (*lastClean, error) {
	var l *lastClean
	for _, i := range t.timeline.Instants {
		if i.Action == timeline.Clean && i.State == timeline.Completed {
			l = &lastClean{instant: i}
		}
	}
	if l == nil {
		return nil, nil
	}
	data, err := t.timeline.Read(ctx, l.instant, timeline.Completed)
	if err != nil {
		return nil, err
	}
	l.meta, err = timeline.DecodeCleanMetadata(data)
	return l, err
}
