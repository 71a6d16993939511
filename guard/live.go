package guard

import (
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// liveChecks compare what the log says is alive with what storage shows.
func liveChecks() []check {
	return []check{
		{
			code:  "live_unread",
			fix:   "Report this with `lakesweep verify` and the names: paths of this table are read wrongly, or the inventory is of another place or wrongly decoded. Nothing overrides it.",
			judge: liveUnread,
		},
		{
			code:  "live_none_seen",
			fix:   "Check that the table's folder and the listing or inventory are of one place. Nothing overrides it.",
			judge: liveNoneSeen,
		},
		{
			code:  "live_missing",
			fix:   "The table is damaged already: `lakesweep verify` lists what is missing. Restore it, or repair the table (FSCK, restore), first.",
			flag:  "--unsafe-missing-live",
			value: func(o Options) string { return o.MissingLive },
			judge: liveMissing,
		},
		{
			code:  "mostly_dead",
			fix:   "Look at the plan's reasons first: so much garbage is often a wrong table, cutoff or protected set.",
			flag:  "--unsafe-mostly-dead",
			value: func(o Options) string { return o.MostlyDead },
			judge: mostlyDead,
		},
	}
}

// absent counts the live files that storage lost.
func absent(e *filelist.Evidence) int64 { return max(e.MissingCount, int64(len(e.LiveMissing))) }

// liveUnread: a live file that the listing didn't show, but that is there or
// was not looked for, proves that our reading of names is wrong.
func liveUnread(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	e := &h.Evidence
	switch unseen := e.LiveExpected - e.LiveSeen - absent(e); {
	case !e.Listed:
		return filelist.Passed, ""
	case len(e.LiveUnseen) > 0:
		return filelist.Refused, fmt.Sprintf("%d live files exist but the %s doesn't show them: %s", max(unseen, int64(len(e.LiveUnseen))), source(h), some(e.LiveUnseen))
	case unseen > 0:
		return filelist.Refused, fmt.Sprintf("%d of %d live files are not in the %s", unseen, e.LiveExpected, source(h))
	}
	return filelist.Passed, fmt.Sprintf("%d of %d live files seen", e.LiveSeen, e.LiveExpected)
}

func liveNoneSeen(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	e := &h.Evidence
	switch {
	case !e.Listed || e.LiveExpected == 0:
		return filelist.Passed, ""
	case e.LiveSeen == 0:
		return filelist.Refused, fmt.Sprintf("the log has %d live files below the root, the %s shows none of them", e.LiveExpected, source(h))
	}
	return filelist.Passed, "live files are where the log says"
}

func liveMissing(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	e := &h.Evidence
	switch n := absent(e); {
	case !e.Listed:
		return filelist.Passed, ""
	case n > 0:
		return filelist.Refused, fmt.Sprintf("storage has lost %d live files: %s", n, some(e.LiveMissing))
	}
	return filelist.Passed, "no live file is missing"
}

// mostlyDead compares files with files: directories are nobody's data.
func mostlyDead(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	dead, live := h.Totals.Dead-h.Totals.ByReason[string(lake.ExpiredBlob)].Objects, h.Evidence.LiveFiles
	if dead == 0 {
		return filelist.Passed, "nothing is dead"
	}
	detail := fmt.Sprintf("%d of %d files are dead (%.1f %%)", dead, dead+live, 100*float64(dead)/float64(dead+live))
	if dead > live {
		return filelist.Refused, detail
	}
	return filelist.Passed, detail
}

func source(h *filelist.Head) string {
	if h.Source != "" {
		return "inventory"
	}
	return "listing"
}
