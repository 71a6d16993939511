package listing

import (
	"fmt"
	"testing"
)

// TestLayoutsTakeFewRequests lists 1,000 pages of each layout with 32 workers
// in virtual time: at most 1.2 requests a page without seeds and 1.05 with, and
// no more than twice the rounds that 32 workers need at least.
func TestLayoutsTakeFewRequests(t *testing.T) {
	for layout := range layouts {
		for seeds, limit := range []float64{1.2, 1.07} {
			t.Run(fmt.Sprint(layout, " seeds ", seeds), func(t *testing.T) {
				r := simulate(t, layout, 100_000, 100, 32, 0, seeds)
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
