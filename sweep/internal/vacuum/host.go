package vacuum

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/journal"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Host is what the engine lends. Safe for concurrent use.
type Host struct {
	Places   place.Finder
	Journals journal.Keeper
	Observe  lake.Observer // may be nil
	Tool     string        // for the heads of plans
}

// Request says what is wanted of a table. Its fields are those of
// sweep.PlanRequest, which explains them.
type Request struct {
	Where        string
	TimeZone     *time.Location
	Retain       *time.Duration
	Cutoff       time.Time
	Mode         string
	FullEvery    time.Duration
	Inventory    *Inventory // nil lists the store
	KeepVersions []int64
	Protect      []string
	Guards       guard.Options
	Workers      int
	Memory       int64
}

// Inventory is a list of objects that replaces the listing.
type Inventory struct {
	inventory.Options
	Maps     []inventory.Map
	Journals []string // of earlier runs, besides those in the state directory
	Name     string   // as plans name it
}

func (v *Inventory) name() string {
	if v == nil {
		return ""
	}
	return v.Name
}

// Open opens a table and settles retention, mode and predicate: all that can
// be refused before the data is touched.
func (h *Host) Open(ctx context.Context, p *place.Place, req Request) (*Run, error) {
	return h.open(ctx, p, req, false)
}
