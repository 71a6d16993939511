package delta_test

import (
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// Files that the log names under another authority may be the table's own: a
// name node and its name service lead to one place.
func TestPathsOfAnotherAuthorityAreKept(t *testing.T) {
	f := newFixture(t)
	f.root = lake.Root{Scheme: "hdfs", Authority: "nameservice", Path: "w/t"}
	f.Features([]string{"deletionVectors"}, nil)
	dv, vector := deltatest.UUIDVector("", 1, -1)
	dv.StorageType, dv.PathOrInlineDv = "p", "hdfs://nn1:8020/w/t/"+vector
	at := "hdfs://nn1:8020/w/t/"
	f.Commit(day(0), deltatest.NewAdd(at+"live", 1).WithDV(dv), deltatest.NewAdd(at+"retained", 1), deltatest.NewAdd(at+"gone", 1))
	f.Commit(day(10), deltatest.NewRemove(at+"gone", day(10)))
	f.Commit(day(90), deltatest.NewRemove(at+"retained", day(90)))
	p := f.protect(t, delta.ProtectRequest{Cutoff: day(50)})
	kept(t, p, keys("live", lake.Key(vector), "retained"), "gone")
	if p.LiveFiles != 1 || p.OutsideFiles != 1 {
		t.Errorf("%+v", p)
	}

	tab := f.mustOpen(t)
	g, err := tab.Guardian(tab.State(), false)
	if err != nil {
		t.Fatal(err)
	}
	f.Commit(day(99), deltatest.NewAdd(at+"adopted", 1))
	if err := g.Refresh(t.Context()); err != nil || !g.Protected("adopted") || g.Protected("other") {
		t.Errorf("adopted is protected: %v, %v", g.Protected("adopted"), err)
	}
}

// Where names fold, what one spelling removed another may have brought back.
func TestLiteComparesFoldedNames(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("P=a/f", 1), deltatest.NewAdd("g", 1))
	f.Commit(day(1), deltatest.NewRemove("P=a/f", day(1)), deltatest.NewRemove("g", day(1)), deltatest.NewAdd("p=A/f", 1))
	for fold, want := range map[bool][]lake.Key{true: keys("g"), false: keys("P=a/f", "g")} {
		tab := f.mustOpen(t)
		p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: day(50), CaseFold: fold})
		if err != nil {
			t.Fatal(err)
		}
		got := map[lake.Key]bool{}
		for v, err := range tab.Lite(t.Context(), delta.LiteRequest{Cutoff: day(50)}, p) {
			if err != nil {
				t.Fatal(err)
			}
			got[v.Key] = true
		}
		for _, k := range want {
			if !got[k] || len(got) != len(want) {
				t.Errorf("folding %v: %v, want %v", fold, got, want)
			}
		}
	}
}
