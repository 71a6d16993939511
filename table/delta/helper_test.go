package delta_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// day0 is when the tables of these tests begin.
var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// day is n days later.
func day(n float64) time.Time { return day0.Add(time.Duration(n * 24 * float64(time.Hour))) }

// fixture is a table in memory.
type fixture struct {
	*deltatest.Log
	s    *mem.Store
	root lake.Root
	now  time.Time
}

func newFixture(tb deltatest.TB) *fixture {
	s := mem.New(mem.Options{})
	return &fixture{Log: deltatest.New(tb, deltatest.Mem(s)), s: s, root: lake.Root{Scheme: "mem", Path: "t"}, now: day(100)}
}

func (f *fixture) open(t testing.TB) (*delta.Table, error) {
	return delta.Open(t.Context(), store.ReadOnly(f.s), f.root, delta.Options{Now: func() time.Time { return f.now }})
}

func (f *fixture) mustOpen(t testing.TB) *delta.Table {
	t.Helper()
	tab, err := f.open(t)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func (f *fixture) protect(t testing.TB, req delta.ProtectRequest) *delta.Protection {
	t.Helper()
	p, err := f.mustOpen(t).Protect(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refused checks that opening or replaying fails with a kind.
func (f *fixture) refused(t testing.TB, kind lake.Kind, cutoff time.Time) error {
	t.Helper()
	tab, err := f.open(t)
	if err == nil {
		_, err = tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: cutoff})
	}
	if err == nil || lake.KindOf(err) != kind {
		t.Errorf("got %v (%v), want %v", err, lake.KindOf(err), kind)
	} else if lake.HintOf(err) == "" {
		t.Errorf("no hint in %v", err)
	}
	return err
}

// kept checks which keys are protected and which aren't.
func kept(t testing.TB, p *delta.Protection, keep []lake.Key, dead ...lake.Key) {
	t.Helper()
	for _, k := range keep {
		if !p.Set.Has(k) {
			t.Errorf("%q isn't protected", k)
		}
	}
	for _, k := range dead {
		if p.Set.Has(k) {
			t.Errorf("%q is protected", k)
		}
	}
}

// lite returns the keys of a lite run.
func (f *fixture) lite(t testing.TB, cutoff time.Time) ([]lake.Key, error) {
	t.Helper()
	tab := f.mustOpen(t)
	p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: cutoff})
	if err != nil {
		t.Fatal(err)
	}
	w, err := tab.ReadWatermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var keys []lake.Key
	for v, err := range tab.Lite(t.Context(), delta.LiteRequest{Cutoff: cutoff, Watermark: w}, p) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, v.Key)
	}
	slices.Sort(keys)
	return keys, nil
}

func keys(names ...lake.Key) []lake.Key { return names }
