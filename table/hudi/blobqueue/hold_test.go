package blobqueue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
)

// A hold stands from before the first slice is moved until it is ended, one for
// each plan; one that can't be read is an error, and an empty one holds.
func TestHolds(t *testing.T) {
	s := mem.New(mem.Options{})
	want := func(list ...Hold) {
		t.Helper()
		got, err := Holds(t.Context(), s)
		if diff := cmp.Diff(list, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	want()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a := Hold{PlanID: "a", Quarantine: "/q/a", Journal: "/q/a.journal", Since: at}
	for _, h := range []Hold{{PlanID: "b"}, a, {PlanID: "a", Quarantine: "/elsewhere"}} {
		if err := h.Place(t.Context(), s, s); err != nil {
			t.Fatal(err)
		}
	}
	a.Schema = 1
	want(a, Hold{Schema: 1, PlanID: "b"})
	for range 2 {
		if err := EndHold(t.Context(), s, "a"); err != nil {
			t.Fatal(err)
		}
	}
	want(Hold{Schema: 1, PlanID: "b"})
	s.Put(holdName("c"), nil, at)
	want(Hold{Schema: 1, PlanID: "b"}, Hold{Schema: 1, PlanID: "c"})
	for _, text := range []string{"{", `{"schema":2}`} {
		s.Put(holdName("d"), []byte(text), at)
		if _, err := Holds(t.Context(), s); lake.KindOf(err) != lake.Damaged {
			t.Errorf("%s: %v", text, err)
		}
	}
}
