package blobqueue

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
)

// A hold stands from before the first slice is moved until it is ended, one for
// each journal of a plan, wherever that lies; one that can't be read is an error,
// and an empty one holds.
func TestHolds(t *testing.T) {
	s := mem.New(mem.Options{})
	want := func(list ...Hold) {
		t.Helper()
		got, err := Holds(t.Context(), s)
		for i := range list {
			list[i].Schema, list[i].File = 1, list[i].name()
		}
		slices.SortFunc(list, func(a, b Hold) int { return strings.Compare(a.name(), b.name()) })
		if diff := cmp.Diff(list, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	want()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a := Hold{PlanID: "a", Quarantine: "/q/a", Journal: "/q/a.journal", Since: at}
	other, later, b := a, a, Hold{PlanID: "b"}
	other.Quarantine = "/elsewhere"
	later.Since = at.Add(time.Second)
	moved := a
	moved.Journal = "/moved.journal"
	for _, h := range []Hold{b, a, other, later, moved} {
		if err := h.Place(t.Context(), s, s); err != nil {
			t.Fatal(err)
		}
	}
	want(a, other, later, b)
	for range 2 {
		if err := moved.End(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	want(other, later, b)
	c := Hold{PlanID: "c.d"}
	c.Since = at
	s.Put(c.name(), nil, at)
	got, err := Holds(t.Context(), s)
	if n := len(got); err != nil || n != 4 || got[3].PlanID != "c.d" || !strings.Contains(got[3].String(), c.name()) {
		t.Errorf("an empty one: %+v, %v", got, err)
	}
	for _, text := range []string{"{", `{"schema":2}`} {
		s.Put(Hold{PlanID: "d"}.name(), []byte(text), at)
		if _, err := Holds(t.Context(), s); lake.KindOf(err) != lake.Damaged {
			t.Errorf("%s: %v", text, err)
		}
	}
}
