package where_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/sweep/internal/where"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestNothingMatchesWhereTheProtectedSetIsNarrow has files that WHERE matches,
// by the log and by their directory, where the set says nothing of live ones.
func TestNothingMatchesWhereTheProtectedSetIsNarrow(t *testing.T) {
	st := mem.New(mem.Options{})
	l := deltatest.New(t, deltatest.Mem(st)).Partition("p")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one := map[string]*string{"p": deltatest.Value("1")}
	l.Commit(at, deltatest.NewAdd("p=1/known", 1).WithValues(one), deltatest.NewAdd("p=2/wrong", 1).WithValues(one))
	l.Commit(at, deltatest.NewRemove("p=1/known", at).WithValues(one), deltatest.NewRemove("p=2/wrong", at).WithValues(one))
	tab, err := delta.Open(t.Context(), store.ReadOnly(st), lake.Root{Scheme: "mem", Path: "t"}, delta.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: at.AddDate(0, 1, 0), Partitions: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := where.Compile("p = '1'", tab.Metadata(), predicate.Options{Now: at})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, within := range []func(lake.Key) bool{nil, f.MayMatchDir(), func(lake.Key) bool { return false }} {
		m := f.Match(p, within)
		for _, k := range []lake.Key{"p=1/known", "p=1/orphan", "p=2/wrong", "p=2/orphan"} {
			got += fmt.Sprint(map[antijoin.Match]string{antijoin.True: "yes ", antijoin.False: "no ", antijoin.Unknown: "unknown "}[m(k)])
		}
		got += "\n"
	}
	if want := "yes yes yes no \nyes yes unknown no \nunknown unknown unknown no \n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if f.NamesOnly(p.Partitions, f.MayMatchDir()) || f.NamesOnly(nil, f.MayMatchDir()) || !f.NamesOnly([]delta.PartitionDirs{}, f.MayMatchDir()) {
		t.Error("NamesOnly")
	}
}
