package delta_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestFaultAtEveryCall fails, cuts and hides each call to the store in turn.
// Whatever fails, there is an error or all that is needed: never less.
func TestFaultAtEveryCall(t *testing.T) {
	for kind, name := range []string{"classic", "multipart", "v2 parquet", "v2 json"} {
		f := newFixture(t)
		dv, vector := deltatest.UUIDVector("", 1, 1)
		f.Commit(day(0), deltatest.NewAdd("a", 1), deltatest.NewAdd("b", 1), deltatest.NewAdd("c", 1), deltatest.NewAdd("d", 1))
		f.Commit(day(40), deltatest.NewRemove("a", day(40)))
		f.Commit(day(41), deltatest.NewRemove("b", day(41)), deltatest.NewAdd("b", 1).WithDV(dv))
		f.Checkpoint(2, day(42), deltatest.Checkpoint{Kind: deltatest.Kind(kind), Keep: day(40.5)})
		f.Commit(day(43), deltatest.NewRemove("c", day(43)))
		want := keys("a", "b", "c", "d", lake.Key(vector))
		for _, fault := range []store.Injection{
			{Err: store.ErrThrottled}, {Err: fs.ErrPermission}, {Err: fs.ErrNotExist}, {Err: store.ErrTruncated, When: store.Half}, {Err: errors.New("broken"), When: store.After},
		} {
			n := int64(1)
			for ; ; n++ {
				faults := store.NewFaults(store.FailNth(n, fault))
				p, live, err := everything(t.Context(), store.ReadOnly(faults.Wrap(f.s)), f)
				if err != nil {
					continue
				}
				for _, k := range want {
					if !p.Set.Has(k) {
						t.Errorf("%s, call %d %v: %q isn't protected", name, n, fault.Err, k)
					}
				}
				if p.LiveFiles != 2 || live != 2 {
					t.Errorf("%s, call %d %v: %d and %d live files", name, n, fault.Err, p.LiveFiles, live)
				}
				if faults.Calls() < n { // none was left to fail
					break
				}
			}
			if n < 8 {
				t.Errorf("only %d calls", n)
			}
		}
	}
}

func everything(ctx context.Context, r store.Reader, f *fixture) (p *delta.Protection, live int, err error) {
	tab, err := delta.Open(ctx, r, f.root, delta.Options{})
	if err != nil {
		return nil, 0, err
	}
	if p, err = tab.Protect(ctx, delta.ProtectRequest{Cutoff: day(30)}); err != nil {
		return nil, 0, err
	}
	for _, err := range tab.LiveFiles(ctx) {
		if err != nil {
			return nil, 0, err
		}
		live++
	}
	return p, live, nil
}

func TestCancelledReplayIsAnError(t *testing.T) {
	f := eleven(t)
	tab := f.mustOpen(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tab.Protect(ctx, delta.ProtectRequest{}); lake.KindOf(err) != lake.Interrupted {
		t.Errorf("%v (%v)", err, lake.KindOf(err))
	}
	for _, err := range tab.LiveFiles(ctx) {
		if err == nil {
			t.Error("a file after the end")
		}
	}
	n := 0
	for _, err := range tab.LiveFiles(t.Context()) {
		if n++; err != nil || n > 3 {
			t.Fatal(n, err)
		}
		if n == 3 {
			break
		}
	}
}
