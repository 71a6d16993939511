package vacuum

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// evidenceSample is how many of a plan's live files an evidence list names.
const evidenceSample = 100

// mostStats bounds how many unseen live files are looked for one by one. Those
// beyond count neither as missing nor as found, which the guards refuse.
const mostStats = 10_000

// evidence gathers what the guards judge, once candidates are joined.
func (run *Run) evidence(ctx context.Context, v *verdicts) (filelist.Evidence, error) {
	p := run.protected
	if err := p.Set.Err(); err != nil {
		return filelist.Evidence{}, err
	}
	ev := filelist.Evidence{
		LiveFiles: p.LiveFiles, LiveBytes: p.LiveBytes,
		Retain: run.retain, RetainTable: run.property,
		ClockSkew: run.Skew, Foreign: v.foreign, EnclosedBy: run.enclosed,
		HistoryGap: p.HistoryGap,
		Versioned:  run.Status.Versioned, SoftDelete: run.Status.SoftDelete,
		InventoryAge: v.inventoryAge, Outside: v.outside,
		Warnings: slices.Concat(run.table.Warnings(), v.notes),
	}
	if run.Status.Note != "" {
		ev.Warnings = append(ev.Warnings, run.Status.Note)
	}
	if run.mode == "lite" {
		return ev, nil
	}
	ev.Listed = !run.inventory.Partial
	ev.LiveExpected, ev.LiveSeen = p.Set.Expected()
	if seen := ev.LiveSeen; len(v.foreign) == 0 && seen <= v.totals.Protected { // what is live inside another table counts as that table's
		v.totals.ProtectedLive = &seen
	}
	if ev.LiveExpected > ev.LiveSeen {
		if err := run.nameUnseen(ctx, &ev); err != nil {
			return ev, err
		}
	}
	return ev, nil
}

// nameUnseen replays the live files once more to name those that the listing
// didn't show, and asks the store for each.
func (run *Run) nameUnseen(ctx context.Context, ev *filelist.Evidence) error {
	expected, below := run.expected(), foreignKeys(ev.Foreign)
	// What came to the table after an inventory was taken can't be in it.
	taken := run.inventory.Taken
	newer := func(t time.Time) bool { return !taken.IsZero() && !t.Before(taken) }
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	stats := 0
	ask := func(k lake.Key, committed time.Time) {
		switch {
		case k == "" || !expected(k) || run.protected.Set.Seen(k):
			return
		case below(k) || newer(committed):
			// Skipped on purpose together with the foreign table around it, or too new for the inventory.
			mu.Lock()
			ev.LiveSeen++
			mu.Unlock()
			return
		}
		if stats++; stats > mostStats {
			return
		}
		group.Go(func() error {
			info, err := run.Reader.Stat(gctx, string(k))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				ev.MissingCount++
				ev.LiveMissing = sample(ev.LiveMissing, k)
			case err != nil:
				return err
			case newer(info.Modified):
				ev.LiveSeen++
			default:
				ev.LiveUnseen = sample(ev.LiveUnseen, k)
			}
			return nil
		})
	}
	for f, err := range run.table.LiveFiles(ctx) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		ask(f.Key, f.Committed)
		ask(f.DV, f.Committed)
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return nil
}

// sample keeps the first names for the report.
func sample(names []string, k lake.Key) []string {
	if len(names) >= evidenceSample {
		return names
	}
	return append(names, string(k))
}

// foreignKeys returns a test for keys below one of the foreign roots.
func foreignKeys(roots []string) func(lake.Key) bool {
	return func(k lake.Key) bool {
		for _, root := range roots {
			if k.Below(lake.Key(root)) {
				return true
			}
		}
		return false
	}
}
