package listing

import (
	"fmt"
	"maps"
	"slices"
	"testing"
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

// TestLayoutsKeepUpWithTheRate lists 10,000 pages at 3,500 requests a second
// with as many workers as it takes: in 1.6 times what the limit allows, with
// under 1 % throttled. The limit alone needs 2.9 s, of which finding out how
// many workers it takes and where the names are is a part.
func TestLayoutsKeepUpWithTheRate(t *testing.T) {
	for _, layout := range []string{"hive", "flat"} {
		t.Run(layout, func(t *testing.T) {
			r := simulate(t, layout, 1_000_000, 100, 0, 3500, 0)
			t.Logf("%.2f of the time, %.3f requests a page, %.2f%% throttled, %d workers", r.rounds/r.ideal, r.requests/r.pages, 100*r.throttled, r.st.Workers)
			if r.requests > 1.2*r.pages || r.rounds > 1.6*r.ideal || r.throttled > 0.01 {
				t.Errorf("%.0f requests for %.0f pages, %.2f of the time, %.1f%% throttled", r.requests, r.pages, r.rounds/r.ideal, 100*r.throttled)
			}
		})
	}
}
