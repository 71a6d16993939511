package cleandoc

import (
	"context"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Clean is the last completed clean of the timeline.
type Clean struct {
	Instant timeline.Instant
	Meta    timeline.CleanMetadata
}

// Last reads the last completed clean, nil if there is none.
//
// Errors: Damaged, also for one without bytes.
func Last(ctx context.Context, tl *timeline.Timeline) (*Clean, error) {
	var l *Clean
	for _, i := range tl.Instants {
		if i.Action == timeline.Clean && i.State == timeline.Completed {
			l = &Clean{Instant: i}
		}
	}
	if l == nil {
		return nil, nil
	}
	data, err := tl.Read(ctx, l.Instant, timeline.Completed)
	if err != nil {
		return nil, err
	}
	l.Meta, err = timeline.DecodeCleanMetadata(data)
	return l, err
}
