package listing

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// TestLayoutsTakeFewRequests lists 1,000 pages of each layout with 32 workers
// in virtual time: at most 1.2 requests a page without seeds and 1.07 with, and
// no more than twice the rounds that 32 workers need at least.
func TestLayoutsTakeFewRequests(t *testing.T) {
	for _, layout := range slices.Sorted(maps.Keys(layouts)) {
		for seeds, limit := range []float64{1.2, 1.07} {
			t.Run(fmt.Sprint(layout, " seeds ", seeds), func(t *testing.T) {
				r := simulate(t, layout, 100_000, 100, 32, 0, seeds)
				t.Logf("%.3f requests a page, %.0f rounds of %.0f, %d wasted, %d splits", r.requests/r.pages, r.rounds, r.ideal, r.st.Wasted, r.st.Splits)
				if r.requests > limit*r.pages {
					t.Errorf("%.0f requests for %.0f pages, limit %.2f", r.requests, r.pages, limit)
				}
				if r.rounds > 2*r.ideal {
					t.Errorf("%.0f rounds, at least %.0f are needed", r.rounds, r.ideal)
				}
			})
		}
	}
}

// TestLayoutsKeepUpWithTheRate lists 33,334 pages at 3,500 requests a second
// with as many workers as it takes: in 1.3 times the 9.5 s that the limit
// allows, with under 1 % throttled. Finding out how many workers it takes and
// where the names are is a part of it, and costs about 60 refusals.
func TestLayoutsKeepUpWithTheRate(t *testing.T) {
	for _, layout := range []string{"hive", "flat"} {
		for seeds := range 2 {
			t.Run(fmt.Sprint(layout, " seeds ", seeds), func(t *testing.T) {
				r := simulate(t, layout, 1_000_000, 30, 0, 3500, seeds)
				t.Logf("%.2f of the time, %.3f requests a page, %.2f%% throttled, %d workers", r.rounds/r.ideal, r.requests/r.pages, 100*r.throttled, r.st.Workers)
				if r.requests > 1.2*r.pages || r.rounds > 1.3*r.ideal || r.throttled > 0.01 {
					t.Errorf("%.0f requests for %.0f pages, %.2f of the time, %.1f%% throttled", r.requests, r.pages, r.rounds/r.ideal, 100*r.throttled)
				}
			})
		}
	}
}

// TestSmallTablesTakeOneRequest, or two if their log lies between their names.
func TestSmallTablesTakeOneRequest(t *testing.T) {
	names := []string{"a/1", "a/2", "b/1", "p=1/x", "p=2/y"}
	for what, c := range map[string]struct {
		o    Options
		most int64
	}{
		"nothing known":              {Options{}, 1},
		"as a Delta table is listed": {Options{Seeds: names, Expected: 5, Within: Except("_delta_log")}, 2},
		"filtered":                   {Options{Seeds: names, Expected: 5, Reach: func(string) Reach { return Part }}, 1},
	} {
		f := &troubled{Reader: newSorted(names, 1000)}
		got, st, err := listed(t, f, c.o)
		if err != nil || !slices.Equal(got, names) || f.calls.Load() > c.most || st.Requests != f.calls.Load() {
			t.Errorf("%s: %d requests, want %d; %q, %+v, %v", what, f.calls.Load(), c.most, got, st, err)
		}
	}
}

// TestManySmallDirectories are listed by pages, not one by one (B081, B086).
func TestManySmallDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		dirs, files int
		workers     int
		most        int64
	}{
		"B086": {50_000, 2, 8, 150},
		"B081": {27_000, 50, 32, 1350*13/10 + 32},
	} {
		s := &simulated{n: c.dirs * c.files, pageSize: 1000, latency: 100 * time.Millisecond, key: func(i int) string {
			return fmt.Sprintf("id=%06d/part-%05d.parquet", i/c.files, i%c.files)
		}}
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			st, err := Walk(t.Context(), s, Options{Workers: c.workers}, func([]store.Info) error { return nil })
			if err != nil || st.Keys != int64(s.n) || s.requests.Load() > c.most {
				t.Errorf("%s: %d requests, at most %d: %+v, %v", name, s.requests.Load(), c.most, st, err)
			}
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}
