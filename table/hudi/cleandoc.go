package hudi

import (
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// The keys of a plan's state, which apply needs.
const (
	statePolicy   = "hudi.policy"
	stateEarliest = "hudi.earliest" // time and action of the claim, JSON
	stateLast     = "hudi.last_completed"
	stateExtra    = "hudi.extra"
	stateDead     = "hudi.dead_partitions"
	stateGhosts   = "hudi.ghosts"
	stateTimeline = "hudi.timeline"
	stateWrites   = "hudi.writes" // completed ones
	stateNothing  = "hudi.nothing"
	stateResumes  = "hudi.resumes"
	stateEmpty    = "hudi.empty_clean"    // whether a clean without files is recorded
	stateListing  = "hudi.metadata_table" // whether there is one
)

// timelineMark names all instants that can make a plan stale, a line each.
func timelineMark(tl *timeline.Timeline) string {
	var lines []string
	for _, i := range tl.Instants {
		if matters(i) {
			lines = append(lines, mark(i))
		}
	}
	return strings.Join(lines, "\n")
}

func mark(i timeline.Instant) string { return i.Time + "." + string(i.Action) + "." + i.State.String() }

// matters reports whether an instant can change what may be deleted: all but
// completed writes that replace nothing, and writes in flight.
func matters(i timeline.Instant) bool {
	switch i.Action {
	case timeline.Commit, timeline.DeltaCommit, timeline.Indexing, timeline.SchemaCommit:
		return false
	}
	return true
}

// writesMark names the completed writes, a line each, oldest first.
func writesMark(tl *timeline.Timeline) string {
	var lines []string
	for _, i := range tl.Writes() {
		lines = append(lines, mark(i))
	}
	return strings.Join(lines, "\n")
}

// extraPlan is the key in a clean's extra metadata that makes it ours.
const extraPlan = "lakesweep.plan"

// extraAhead is the key that says of a clean that it claims an earliest commit
// for the archiver's sake: it didn't look at all partitions, or by versions, which
// leaves older slices than those of that commit. The next clean looks at all.
const extraAhead = "lakesweep.partial"
