package hudi

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// earliest returns the earliest commit to retain, nil for none: under
// LatestVersions always, else nothing is cleaned then. why says how it came about.
//
// Source: Hudi 1.2.0, CleanerUtils.getEarliestCommitToRetain; spec/hudi-clean.md 5.3; careful difference 7.
func (t *Table) earliest(c retain.Config, now time.Time, last *lastClean) (i *timeline.Instant, why string, err error) {
	completed := t.timeline.Writes()
	switch c.Policy {
	case retain.LatestCommits:
		if len(completed) <= c.Commits {
			return nil, "no more commits than are retained", nil
		}
		i, why = &completed[len(completed)-c.Commits], "the oldest of the latest commits"
	case retain.LatestHours:
		zone, err := timeline.Zone(t.properties, t.o.Zone)
		if err != nil {
			return nil, "", err
		}
		cutoff := c.Cutoff
		if cutoff.IsZero() {
			cutoff = now.Add(-time.Duration(c.Hours) * time.Hour)
		}
		i, why = notBefore(completed, timeline.FormatTime(cutoff, zone)), "the first commit of the hours retained"
	default:
		return nil, "the policy counts file versions, not commits", nil
	}
	if pending, ok := t.earliestPending(); ok && i != nil && i.Time > pending.Time {
		i = before(completed, pending.Time)
		why = "the last commit before the pending " + string(pending.Action) + " " + pending.Time
	}
	if i == nil {
		return nil, "no commit that could be retained first: " + why, nil
	}
	return t.capped(c, completed, i, last), why, nil
}

// earliestPending is the first write or compaction that isn't complete. Log
// compactions don't count.
func (t *Table) earliestPending() (timeline.Instant, bool) {
	for _, i := range t.timeline.Instants {
		if timeline.IsWrite(i.Action) && i.Action != timeline.LogCompaction && i.State != timeline.Completed {
			return i, true
		}
	}
	return timeline.Instant{}, false
}

// capped moves i back so that at most MaxCommits commits lie between the last
// clean's earliest commit and it.
func (t *Table) capped(c retain.Config, completed []timeline.Instant, i *timeline.Instant, last *lastClean) *timeline.Instant {
	if last == nil || last.meta.Earliest == "" {
		return i
	}
	n := int64(0)
	for at := range completed {
		if completed[at].Time < last.meta.Earliest {
			continue
		}
		if completed[at].Time >= i.Time {
			break
		}
		if n == c.MaxCommits {
			return &completed[at]
		}
		n++
	}
	return i
}

func before(list []timeline.Instant, time string) (last *timeline.Instant) {
	for i := range list {
		if list[i].Time < time {
			last = &list[i]
		}
	}
	return last
}

// notBefore returns the first commit that wasn't complete before a time, as far
// as the timeline tells: until then readers read what was there before.
func notBefore(list []timeline.Instant, time string) *timeline.Instant {
	for i := range list {
		if max(list[i].Time, list[i].Completion) >= time {
			return &list[i]
		}
	}
	return nil
}

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
