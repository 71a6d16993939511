package mdt

import (
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// An index that is made later says nothing of files: a write that the listing
// lacks is missed still, if a delta commit lies before it.
func TestALaterIndexMakesNoWriteKnown(t *testing.T) {
	const clean, lacking, later = "20260601010000000", "20260601030000000", "20260601050000000"
	for name, c := range map[string]struct {
		layout timeline.Layout
		made   []timeline.Instant
		known  bool
	}{
		"8: files made before the write":                       {timeline.Layout2, []timeline.Instant{{Time: "00000000000000000", Completion: "20260601020000000"}}, false},
		"8: files made after it":                               {timeline.Layout2, []timeline.Instant{{Time: "00000000000000000", Completion: "20260601040000000"}}, true},
		"8: files made before it, an index after it":           {timeline.Layout2, []timeline.Instant{{Time: "00000000000000000", Completion: "20260601020000000"}, {Time: "00000000000000002", Completion: "20260601040000000"}}, false},
		"8: an index after it, the making of files archived":   {timeline.Layout2, []timeline.Instant{{Time: "00000000000000002", Completion: "20260601040000000"}}, false},
		"6: files made of the write":                           {timeline.Layout1, []timeline.Instant{{Time: lacking + "010"}}, true},
		"6: files made before it, an index after it":           {timeline.Layout1, []timeline.Instant{{Time: "20260601020000000010"}, {Time: "20260601040000000010"}}, false},
		"6: files made of an empty table, an index after that": {timeline.Layout1, []timeline.Instant{{Time: "00000000000000010"}, {Time: "20260601040000000011"}}, false},
	} {
		instants := []timeline.Instant{{Time: clean}, {Time: later, Completion: "20260601050100000"}}
		instants = append(instants, c.made...)
		for n := range instants {
			instants[n].Action, instants[n].State = timeline.DeltaCommit, timeline.Completed
		}
		data := []timeline.Instant{{Time: lacking, Action: timeline.Commit, State: timeline.Completed}, {Time: later, Action: timeline.Commit, State: timeline.Completed}}
		if c.layout == timeline.Layout2 {
			data[0].Completion, data[1].Completion = "20260601030100000", "20260601050100000"
		}
		m := Table{Timeline: &timeline.Timeline{Layout: c.layout, Instants: instants}, data: Data{Timeline: &timeline.Timeline{Layout: c.layout, Instants: data}}}
		if err := m.Trust(); (err == nil) != c.known || err != nil && lake.KindOf(err) != lake.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
