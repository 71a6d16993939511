package delta_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

func TestExplain(t *testing.T) {
	dv, file := deltatest.UUIDVector("", 1, 1)
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("old", 1), deltatest.NewAdd("mid", 1), deltatest.NewAdd("live%20one", 1))
	f.Commit(day(10), deltatest.NewRemove("old", day(9)))
	f.Commit(day(20), deltatest.NewRemove("mid", day(19)), deltatest.NewRemove("live%20one", day(20)), deltatest.NewAdd("live%20one", 1).WithDV(dv))
	for _, checkpoint := range []bool{false, true} {
		if checkpoint {
			f.Checkpoint(2, day(21), deltatest.Checkpoint{})
		}
		for k, want := range map[lake.Key]string{
			"old":          "/0 add 1 remove", // dead
			"mid":          "history/0 add 2 remove",
			"live one":     "live/0 add 2 remove 2 add",
			"live%20one":   "live/0 add 2 remove 2 add",
			lake.Key(file): "live/2 deletion_vector",
			"unknown":      "/",
			"_hidden/x":    "hidden/hidden",
		} {
			e, err := f.mustOpen(t).Explain(t.Context(), k, day(15))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range e.Because {
				s := b.Action
				if b.Version != nil {
					s = fmt.Sprint(*b.Version, " ", s)
				}
				if strings.Contains(b.Rule, "checkpoint") {
					continue
				}
				if b.Rule == "" {
					t.Error("no rule")
				}
				got = append(got, s)
			}
			if s := e.Verdict + "/" + strings.Join(got, " "); s != want && !checkpoint || e.Verdict != strings.Split(want, "/")[0] {
				t.Errorf("%q (checkpoint %v): %s, want %s", k, checkpoint, s, want)
			}
		}
	}
}
