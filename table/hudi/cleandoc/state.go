package cleandoc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// State is what a plan document remembers of a clean.
type State struct {
	Policy   retain.Policy
	Earliest *timeline.ActionInstant // the claim, nil for none
	Last     string                  // requested time of the last completed commit that was looked at
	Extra    map[string]string       // extra metadata of the clean's plan
	Dead     []string                // partitions
	Ghosts   map[string][]string     // by partition: dead files that are gone already
	Timeline []string                // marks of the instants that matter
	Writes   []string                // marks of the completed writes, oldest first
	Nothing  bool                    // no clean is due
	Resumes  string                  // the pending clean that is finished, "" for a new one
	Empty    bool                    // a clean without files is recorded
	Listing  bool                    // the table has a metadata table
}

// The keys of a plan document's state.
const (
	keyPolicy   = "hudi.policy"
	keyEarliest = "hudi.earliest" // JSON, as the next three
	keyExtra    = "hudi.extra"
	keyDead     = "hudi.dead_partitions"
	keyGhosts   = "hudi.ghosts"
	keyLast     = "hudi.last_completed"
	keyTimeline = "hudi.timeline" // a line each
	keyWrites   = "hudi.writes"
	keyNothing  = "hudi.nothing"
	keyResumes  = "hudi.resumes"
	keyEmpty    = "hudi.empty_clean"
	keyListing  = "hudi.metadata_table"
)

// Encode returns the state as a plan document holds it.
func (s State) Encode() (map[string]string, error) {
	m := map[string]string{
		keyPolicy: string(s.Policy), keyLast: s.Last, keyTimeline: strings.Join(s.Timeline, "\n"), keyWrites: strings.Join(s.Writes, "\n"),
		keyNothing: strconv.FormatBool(s.Nothing), keyResumes: s.Resumes, keyEmpty: strconv.FormatBool(s.Empty), keyListing: strconv.FormatBool(s.Listing),
	}
	put := func(key string, v any) error {
		data, err := json.Marshal(v)
		m[key] = string(data)
		return err
	}
	errs := []error{put(keyExtra, s.Extra), put(keyDead, s.Dead), put(keyGhosts, s.Ghosts)}
	if s.Earliest != nil {
		errs = append(errs, put(keyEarliest, s.Earliest))
	}
	return m, errors.Join(errs...)
}

// Decode reads what encode wrote.
//
// Errors: Invalid for a state that says nothing of a clean; Damaged.
func Decode(m map[string]string) (State, error) {
	s := State{
		Policy: retain.Policy(m[keyPolicy]), Last: m[keyLast], Timeline: strings.Split(m[keyTimeline], "\n"), Writes: strings.Split(m[keyWrites], "\n"),
		Nothing: m[keyNothing] == "true", Resumes: m[keyResumes], Empty: m[keyEmpty] == "true",
	}
	if _, ok := m[keyTimeline]; !ok {
		return s, &lake.Error{Op: "apply plan", Kind: lake.Invalid, Err: errors.New("the plan doesn't say which timeline it was made on"), Hint: "Make a new plan."}
	}
	var errs []error
	get := func(key string, to any) {
		if err := json.Unmarshal([]byte(m[key]), to); err != nil {
			errs = append(errs, fmt.Errorf("state %s: %w", key, err))
		}
	}
	get(keyListing, &s.Listing)
	get(keyExtra, &s.Extra)
	get(keyDead, &s.Dead)
	get(keyGhosts, &s.Ghosts)
	if m[keyEarliest] != "" {
		get(keyEarliest, &s.Earliest)
	}
	if err := errors.Join(errs...); err != nil {
		return s, &lake.Error{Op: "apply plan", Kind: lake.Damaged, Err: err, Hint: "Make a new plan."}
	}
	return s, nil
}

// Mark names an instant in the state it is in.
func Mark(i timeline.Instant) string { return i.Time + "." + string(i.Action) + "." + i.State.String() }

// Marks names instants.
func Marks(list []timeline.Instant) []string {
	var out []string
	for _, i := range list {
		out = append(out, Mark(i))
	}
	return out
}

// Matters reports whether an instant can change what may be deleted: all but
// completed writes that replace nothing, and writes in flight.
func Matters(i timeline.Instant) bool {
	switch i.Action {
	case timeline.Commit, timeline.DeltaCommit, timeline.Indexing, timeline.SchemaCommit:
		return false
	}
	return true
}

// ExtraPlan is the key in a clean's extra metadata that makes it ours.
const ExtraPlan = "lakesweep.plan"

// ExtraAhead is the key that says of a clean that it claims an earliest commit
// for the archiver's sake: it didn't look at all partitions, or by versions, which
// leaves older slices than those of that commit. The next clean looks at all.
const ExtraAhead = "lakesweep.partial"
