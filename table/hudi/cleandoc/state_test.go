package cleandoc

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func whole() State {
	return State{
		Policy: retain.LatestHours, Earliest: &timeline.ActionInstant{Timestamp: "1", Action: "commit", State: "COMPLETED"}, Last: "3",
		Extra: map[string]string{ExtraAhead: "true"}, Dead: []string{"p=1"}, Ghosts: map[string][]string{"p=2": {"f", "g"}},
		Timeline: []string{"2.clean.COMPLETED", "4.savepoint.COMPLETED"}, Writes: []string{"1.commit.COMPLETED"},
		Nothing: true, Resumes: "5", Empty: true, Listing: true,
	}
}

func TestAStateIsReadAsItWasWritten(t *testing.T) {
	for name, s := range map[string]State{
		"all":     whole(),
		"nothing": {Extra: map[string]string{}, Dead: []string{}, Ghosts: map[string][]string{}, Timeline: []string{""}, Writes: []string{""}},
	} {
		m, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m[keyEarliest]; ok != (s.Earliest != nil) {
			t.Errorf("%s: a claim is written: %v", name, ok)
		}
		got, err := Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAStateThatCantBeReadIsRefused(t *testing.T) {
	m, err := whole().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{keyExtra, keyDead, keyGhosts, keyListing, keyEarliest} {
		bad := maps.Clone(m)
		bad[key] = "{"
		if _, err := Decode(bad); lake.KindOf(err) != lake.Damaged {
			t.Errorf("%s: %v", key, err)
		}
		delete(bad, key)
		if _, err := Decode(bad); key != keyEarliest && lake.KindOf(err) != lake.Damaged {
			t.Errorf("without %s: %v", key, err)
		}
	}
	if _, err := Decode(map[string]string{"hudi.zone": "UTC"}); lake.KindOf(err) != lake.Invalid {
		t.Errorf("of no clean: %v", err)
	}
}
