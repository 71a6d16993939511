package delta_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// chain commits f0 … f9, each replacing the one before, a day apart.
func chain(t testing.TB) *fixture {
	f := newFixture(t)
	for v := range 10 {
		actions := []deltatest.Action{deltatest.NewAdd(fmt.Sprintf("f%d", v), 1)}
		if v > 0 {
			actions = append(actions, deltatest.NewRemove(fmt.Sprintf("f%d", v-1), day(float64(v))))
		}
		f.Commit(day(float64(v)), actions...)
	}
	return f
}

const watermark = "_delta_log/_last_vacuum_info"

func TestLiteRange(t *testing.T) {
	for name, c := range map[string]struct {
		gone   int64 // commits 0 … gone-1 were cleaned up
		mark   string
		cutoff time.Time
		want   []lake.Key
		refuse bool
	}{
		"from the beginning":                       {0, "", day(50), keys("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"), false},
		"up to the version active at the cutoff":   {0, "", day(4.5), keys("f0", "f1", "f2", "f3"), false},
		"from the watermark":                       {0, `{"latestCommitVersionOutsideOfRetentionWindow":5}`, day(50), keys("f5", "f6", "f7", "f8"), false},
		"nothing new":                              {0, `{"latestCommitVersionOutsideOfRetentionWindow":9}`, day(50), nil, false},
		"watermark above the log counts for none":  {0, `{"latestCommitVersionOutsideOfRetentionWindow":900}`, day(3.5), keys("f0", "f1", "f2"), false},
		"even the oldest commit is younger":        {0, "", day(-1), nil, false},
		"39 commits gone, no watermark":            {3, "", day(50), nil, true},
		"41 FULL of Spark's wiped it":              {3, "{}", day(50), nil, true},
		"garbage is none":                          {3, "garbage", day(50), nil, true},
		"40 gone below the watermark":              {3, `{"latestCommitVersionOutsideOfRetentionWindow":5}`, day(50), keys("f5", "f6", "f7", "f8"), false},
		"gone up to the watermark suffices (OURS)": {3, `{"latestCommitVersionOutsideOfRetentionWindow":2}`, day(50), keys("f2", "f3", "f4", "f5", "f6", "f7", "f8"), false},
		"40 one more is gone":                      {4, `{"latestCommitVersionOutsideOfRetentionWindow":2}`, day(50), nil, true},
		"a commit inside the range is gone":        {-6, `{"latestCommitVersionOutsideOfRetentionWindow":2}`, day(50), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := chain(t)
			f.Checkpoint(8, day(8.5), deltatest.Checkpoint{})
			if c.gone >= 0 {
				f.remove(t, commitsTo(c.gone-1)...)
			} else {
				f.remove(t, deltatest.Name(-c.gone))
			}
			if c.mark != "" {
				f.Put(watermark, []byte(c.mark), day(1))
			}
			got, err := f.lite(t, c.cutoff)
			if c.refuse {
				if lake.KindOf(err) != lake.Refused || lake.HintOf(err) == "" {
					t.Errorf("%v, want Refused", err)
				}
				return
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" {
				t.Errorf("%v %s", err, d)
			}
		})
	}
}

func TestLiteNeverNamesTheLog(t *testing.T) {
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1))
	f.Commit(day(1), deltatest.NewRemove("_delta_log/00000000000000000000.json", day(1)), deltatest.NewRemove("x/_delta_log/y", day(1)), deltatest.NewCDC("_delta_log/z", 1))
	if got, err := f.lite(t, day(50)); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLiteVerdicts(t *testing.T) {
	dv, file := deltatest.UUIDVector("", 1, 1)
	f := newFixture(t)
	f.Commit(day(0), deltatest.NewAdd("f", 1).WithDV(dv))
	f.Commit(day(1), deltatest.NewRemove("f", day(2)).WithDV(dv), deltatest.NewCDC("_change_data/c", 5))
	tab := f.mustOpen(t)
	p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: day(50)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[lake.Key]lake.Verdict{}
	for v, err := range tab.Lite(t.Context(), delta.LiteRequest{Cutoff: day(50)}, p) {
		if err != nil {
			t.Fatal(err)
		}
		got[v.Key] = v
	}
	if d := cmp.Diff(map[lake.Key]lake.Verdict{
		"f":              {Key: "f", Size: 1, Reason: lake.Tombstone, Tombstone: day(2)},
		lake.Key(file):   {Key: lake.Key(file), Size: -1, Reason: lake.DeletionVector, Tombstone: day(2)},
		"_change_data/c": {Key: "_change_data/c", Size: 5, Reason: lake.ChangeData, Tombstone: day(1)},
	}, got); d != "" {
		t.Error(d)
	}
}

// B034: after pruning LITE is refused; one FULL lifts that, and only a complete one.
func TestB034FullLiftsTheRefusal(t *testing.T) {
	f := chain(t)
	f.Checkpoint(8, day(8.5), deltatest.Checkpoint{})
	f.remove(t, commitsTo(4)...)
	full := func(result table.Result, unfiltered bool) {
		t.Helper()
		tab := f.mustOpen(t)
		r, err := tab.LiteRange(t.Context(), delta.LiteRequest{Cutoff: day(7.5)})
		if lake.KindOf(err) != lake.Refused || r.Next == nil || *r.Next != 7 {
			t.Fatalf("%+v, %v", r, err)
		}
		rec, err := tab.Recorder(f.s, delta.RecorderOptions{CommitLog: "off", Full: true, Unfiltered: unfiltered, Next: r.Next})
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Begin(t.Context(), table.Intent{}); err != nil {
			t.Fatal(err)
		}
		if err := rec.Complete(t.Context(), result); err != nil {
			t.Fatal(err)
		}
	}
	full(table.Result{Deleted: 3, Skipped: 1}, true)
	full(table.Result{Deleted: 3, Failed: 1, Complete: true}, true)
	full(table.Result{Deleted: 3, Complete: true}, false)
	if _, err := f.lite(t, day(7.5)); lake.KindOf(err) != lake.Refused {
		t.Fatalf("an incomplete or filtered run moved the watermark: %v", err)
	}
	full(table.Result{Deleted: 3, Complete: true}, true)
	if got, err := f.lite(t, day(50)); err != nil || cmp.Diff(keys("f7", "f8"), got) != "" {
		t.Errorf("%q, %v", got, err)
	}
	w, err := f.mustOpen(t).ReadWatermark(t.Context())
	if err != nil || !w.LastFull.Equal(f.now) || *w.Version != 7 {
		t.Errorf("%+v, %v", w, err)
	}
	if got := string(f.read(t, watermark)); got != fmt.Sprintf(`{"latestCommitVersionOutsideOfRetentionWindow":7,"lakesweepLastFullMillis":%d}`+"\n", f.now.UnixMilli()) {
		t.Errorf("%s", got)
	}
}

func TestWatermarkNeverMovesBack(t *testing.T) {
	f := chain(t)
	f.Put(watermark, []byte(`{"latestCommitVersionOutsideOfRetentionWindow":8}`), day(9))
	tab := f.mustOpen(t)
	w, err := tab.ReadWatermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tab.LiteRange(t.Context(), delta.LiteRequest{Cutoff: day(3.5), Watermark: w})
	if err != nil || r.Next != nil || r.First <= r.Last {
		t.Errorf("%+v, %v", r, err)
	}
	three := int64(3)
	rec, err := tab.Recorder(f.s, delta.RecorderOptions{CommitLog: "off", Unfiltered: true, Next: &three})
	if err == nil {
		err = rec.Complete(t.Context(), table.Result{Complete: true})
	}
	if w, err2 := f.mustOpen(t).ReadWatermark(t.Context()); err != nil || err2 != nil || *w.Version != 8 {
		t.Errorf("%+v, %v, %v", w, err, err2)
	}
}
