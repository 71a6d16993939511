package blobs

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// fence is the oldest write in flight of any of the tables, as an instant of the first.
func (j *judge) fence(ctx context.Context) (string, error) {
	oldest := ""
	for n, t := range j.tables {
		now, err := t.table.Hudi.Timeline().Reload(ctx)
		if err != nil {
			return "", err
		}
		at := blobqueue.EarliestWrite(now)
		if at == "" {
			continue
		}
		if n > 0 {
			began, err := t.parse(at)
			if err != nil {
				return "", err
			}
			if at, err = j.tables[0].format(began); err != nil {
				return "", err
			}
		}
		if oldest == "" || at < oldest {
			oldest = at
		}
	}
	return oldest, nil
}

// instant returns a time for what is queued now: later than all that
// judged.instant says, and than the writes in flight of the other tables, whose
// clocks may be ahead, so that the fence holds.
func (j *judge) instant(ctx context.Context, now time.Time) (string, error) {
	next, err := j.tables[0].instant(ctx, now)
	if err != nil {
		return "", err
	}
	for _, t := range j.tables[1:] {
		fresh, err := t.table.Hudi.Timeline().Reload(ctx)
		if err != nil {
			return "", err
		}
		for _, i := range fresh.Instants {
			if !timeline.IsWrite(i.Action) || i.State == timeline.Completed {
				continue
			}
			began, err := t.parse(i.Time)
			if err != nil {
				return "", err
			}
			after, err := j.tables[0].format(began.Add(time.Millisecond))
			if err != nil {
				return "", err
			}
			next = max(next, after)
		}
	}
	return next, nil
}

func (j *judged) zone() (*time.Location, error) {
	return timeline.Zone(j.table.Hudi.Properties(), j.table.Hudi.Options().Zone)
}

func (j *judged) parse(instant string) (time.Time, error) {
	zone, err := j.zone()
	if err != nil {
		return time.Time{}, err
	}
	return timeline.ParseTime(instant, zone)
}

func (j *judged) format(at time.Time) (string, error) {
	zone, err := j.zone()
	if err != nil {
		return "", err
	}
	return timeline.FormatTime(at, zone), nil
}

// instant returns a time for an entry of the queue or an intent, later than
// all on the timeline and all of sidecars and intents as they are now.
func (j *judged) instant(ctx context.Context, now time.Time) (string, error) {
	fresh, err := j.table.Hudi.Timeline().Reload(ctx)
	if err != nil {
		return "", err
	}
	next, err := j.format(now)
	if err != nil {
		return "", err
	}
	last, err := blobqueue.LastTime(ctx, j.table.Reader)
	if err != nil {
		return "", err
	}
	if last = max(last, fresh.LastTime()); next <= last {
		at, err := j.parse(last)
		if err != nil {
			return "", err
		}
		return j.format(at.Add(time.Millisecond))
	}
	return next, nil
}
