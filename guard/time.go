package guard

import (
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// maxSkew is how far our clock and the store's may be apart (law L7).
const maxSkew = 5 * time.Minute

// timeChecks ask whether the cutoff, the history and the clocks can be relied on.
func timeChecks() []check {
	return []check{
		{
			code:  "retain_below_property",
			fix:   "Leave --retain out, so that the table's own retention holds; readers of older versions and long-running writers rely on it.",
			flag:  "--unsafe-retain-below",
			value: func(o Options) string { return o.RetainBelow },
			judge: retainBelow,
		},
		{
			code:  "cutoff_ahead",
			fix:   "Give a cutoff in the past. Nothing overrides it.",
			judge: cutoffAhead,
		},
		{
			code:  "history_gap",
			fix:   "Shorten --retain to what the log still proves, or wait until its history is long enough. Nothing overrides it.",
			judge: historyGap,
		},
		{
			code:  "clock_skew",
			fix:   "Set this machine's clock (NTP) and plan again. Nothing overrides it.",
			judge: clockSkew,
		},
		{
			code:  "inventory_age",
			fix:   "Use a newer inventory, list instead, or raise --max-inventory-age.",
			judge: inventoryAge,
		},
	}
}

func retainBelow(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	e := &h.Evidence
	if e.Retain < e.RetainTable {
		given, least := lake.Hours(e.Retain), lake.Hours(e.RetainTable)
		if given == least {
			given, least = e.Retain.String(), e.RetainTable.String()
		}
		return filelist.Refused, fmt.Sprintf("%s given, %s minimum by the table's own retention", given, least)
	}
	return filelist.Passed, fmt.Sprintf("%s of history are kept, the table's own retention is %s", lake.Hours(e.Retain), lake.Hours(e.RetainTable))
}

func cutoffAhead(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if h.Cutoff.After(h.Created) || h.Evidence.Retain < 0 {
		return filelist.Refused, fmt.Sprintf("the cutoff %s lies in the future", h.Cutoff.UTC().Format(time.RFC3339))
	}
	return filelist.Passed, ""
}

func historyGap(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if gap := h.Evidence.HistoryGap; gap != "" {
		return filelist.Refused, gap
	}
	return filelist.Passed, "the log proves what was live since the cutoff"
}

func clockSkew(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	detail := fmt.Sprintf("our clock and the store's are %s apart", lake.Span(h.Evidence.ClockSkew.Abs()))
	if h.Evidence.ClockSkew.Abs() > maxSkew {
		return filelist.Refused, detail
	}
	return filelist.Passed, detail
}

func inventoryAge(h *filelist.Head, o Options) (filelist.Outcome, string) {
	if h.Source == "" {
		return filelist.Passed, ""
	}
	detail := fmt.Sprintf("the inventory is %s old", lake.Span(h.Evidence.InventoryAge))
	if o.MaxInventoryAge > 0 && h.Evidence.InventoryAge > o.MaxInventoryAge {
		return filelist.Refused, fmt.Sprintf("%s, at most %s are allowed", detail, lake.Span(o.MaxInventoryAge))
	}
	return filelist.Passed, detail
}
