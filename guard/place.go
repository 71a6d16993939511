package guard

import (
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// placeChecks ask what else lives where the table lives.
func placeChecks() []check {
	return []check{
		{
			code:  "enclosed",
			fix:   "Move one of the two tables: each would take the other's files for garbage. Nothing overrides it.",
			judge: enclosed,
		},
		{
			code:  "foreign_inside",
			fix:   "Their folders are left alone. Move them out of the table's root if they are not meant to be there.",
			judge: foreignInside,
		},
		{
			code:  "inventory_unmatched",
			fix:   "Check that the inventory is of this bucket and prefix, and how it spells names; --map FROM=TO translates. Nothing overrides it.",
			judge: inventoryUnmatched,
		},
		{
			code:  "held_by_store",
			fix:   "Add a lifecycle rule that expires noncurrent versions, or --all-versions; nothing is freed before.",
			judge: heldByStore,
		},
		{
			code:  "not_ready",
			fix:   "Plan again with what is missing; the plan itself holds.",
			judge: notReady,
		},
		{
			code:  "blobs_unqueued",
			fix:   "Clean with --blobs delete and a --blob-root: it queues the blobs first. If they are to stay, say so with --blobs off, or with hoodie.cleaner.blob.enabled=false.",
			judge: blobsUnqueued,
		},
		{
			code:  "blobs_outside_roots",
			fix:   "If they may die too, add the folder in which they lie with --blob-root before the slices go; the summary names the first. Else no action is needed.",
			judge: blobsOutsideRoots,
		},
		{
			code:  "note",
			fix:   "It refuses nothing; if something can be done, the note says so.",
			judge: notes,
		},
	}
}

func enclosed(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if by := h.Evidence.EnclosedBy; by != "" {
		return filelist.Refused, "the table lies inside the table " + by
	}
	return filelist.Passed, "no table lies around this one"
}

func foreignInside(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if foreign := h.Evidence.Foreign; len(foreign) > 0 {
		return filelist.Warned, fmt.Sprintf("%d other tables lie inside this one and are left alone (%d objects): %s", len(foreign), h.Totals.Foreign, some(foreign))
	}
	return filelist.Passed, "no table lies inside this one"
}

func inventoryUnmatched(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	switch t := &h.Totals; {
	case h.Source == "":
		return filelist.Passed, ""
	case t.Candidates == 0 && t.Foreign == 0 && h.Evidence.LiveSeen == 0 && h.Evidence.LiveExpected == 0 && t.Dead == 0:
		// A table without files: nothing dies by a wrong list.
		return filelist.Warned, fmt.Sprintf("no row of the inventory is a file of the table, which has no live file either (%d rows lie elsewhere)", h.Evidence.Outside)
	case t.Candidates == 0 && t.Foreign == 0 && h.Evidence.LiveSeen == 0:
		return filelist.Refused, fmt.Sprintf("no row of the inventory lies below the table's root (%d rows lie elsewhere)", h.Evidence.Outside)
	default:
		return filelist.Passed, fmt.Sprintf("%d objects of the inventory lie below the root, %d rows elsewhere", t.Candidates, h.Evidence.Outside)
	}
}

func heldByStore(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	switch e := &h.Evidence; {
	case e.Versioned:
		return filelist.Warned, "the bucket keeps versions: deleted objects stay as noncurrent versions and still cost"
	case e.SoftDelete > 0:
		return filelist.Warned, fmt.Sprintf("the store holds deleted objects back for %s and bills them", lake.Span(e.SoftDelete))
	}
	return filelist.Passed, ""
}

func notReady(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if blocked := h.Evidence.Blocked; len(blocked) > 0 {
		return filelist.Warned, "carried out, it would be refused: " + strings.Join(blocked, "; ")
	}
	return filelist.Passed, ""
}

func blobsUnqueued(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if columns := h.Evidence.Unqueued; len(columns) > 0 {
		return filelist.Warned, fmt.Sprintf("file slices go that may refer to external blobs in %s, and none of the blobs is queued: those that nothing else refers to stay for ever, and no later run finds them", some(columns))
	}
	return filelist.Passed, ""
}

func blobsOutsideRoots(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	if b := h.Totals.Blobs; b != nil && b.OutsideRoots > 0 {
		return filelist.Warned, fmt.Sprintf("managed blobs below no --blob-root that the slices refer to: %d. They aren't queued, so that those which nothing else refers to stay for ever", b.OutsideRoots)
	}
	return filelist.Passed, ""
}

func notes(h *filelist.Head, _ Options) (filelist.Outcome, string) {
	return filelist.Warned, strings.Join(h.Evidence.Warnings, "; ")
}
