package expiry

import (
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Earliest returns the earliest commit to retain, nil for none: under
// LatestVersions always, else nothing is cleaned then. why says how it came
// about. claimed is what the last clean claimed, "" for nothing; zone is asked
// for under LatestHours only.
//
// Source: Hudi 1.2.0, CleanerUtils.getEarliestCommitToRetain; spec/hudi-clean.md 5.3; careful difference 3.
func Earliest(tl *timeline.Timeline, c retain.Config, now time.Time, zone func() (*time.Location, error), claimed string) (i *timeline.Instant, why string, err error) {
	completed := tl.Writes()
	switch c.Policy {
	case retain.LatestCommits:
		if len(completed) <= c.Commits {
			return nil, "no more commits than are retained", nil
		}
		i, why = &completed[len(completed)-c.Commits], "the oldest of the latest commits"
	case retain.LatestHours:
		in, err := zone()
		if err != nil {
			return nil, "", err
		}
		cutoff := c.Cutoff
		if cutoff.IsZero() {
			cutoff = now.Add(-time.Duration(c.Hours) * time.Hour)
		}
		i, why = notBefore(completed, timeline.FormatTime(cutoff, in)), "the first commit of the hours retained"
	default:
		return nil, "the policy counts file versions, not commits", nil
	}
	if pending, ok := earliestPending(tl); ok && i != nil && i.Time > pending.Time {
		i = tl.WriteBefore(pending.Time)
		why = "the last commit before the pending " + string(pending.Action) + " " + pending.Time
	}
	if i == nil {
		return nil, "no commit that could be retained first: " + why, nil
	}
	return capped(c, completed, i, claimed), why, nil
}

// earliestPending is the first write or compaction that isn't complete. Log
// compactions don't count.
func earliestPending(tl *timeline.Timeline) (timeline.Instant, bool) {
	for _, i := range tl.Instants {
		if timeline.IsWrite(i.Action) && i.Action != timeline.LogCompaction && i.State != timeline.Completed {
			return i, true
		}
	}
	return timeline.Instant{}, false
}

// capped moves i back so that at most MaxCommits commits lie between the last
// clean's earliest commit and it.
func capped(c retain.Config, completed []timeline.Instant, i *timeline.Instant, claimed string) *timeline.Instant {
	if claimed == "" {
		return i
	}
	n := int64(0)
	for at := range completed {
		if completed[at].Time < claimed {
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
