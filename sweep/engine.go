package sweep

import (
	"context"
	"log/slog"
	"time"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/journal"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Engine runs the stations. Its fields are set once, before the first call.
// Safe for concurrent use.
type Engine struct {
	Stores   store.Opener     // one for each class of store
	Now      func() time.Time // our clock; the store's is compared with it
	Observe  lake.Observer    // progress; may be nil
	Log      *slog.Logger     // warnings and, at debug level, decisions
	StateDir string           // where journals of one-shot runs lie
	Tool     string           // "lakesweep v1.2.3", for plan heads and log entries
	Query    inventory.Engine // runs SQL over inventories; nil refuses it
	Getwd    func() (string, error)

	sleep func(ctx context.Context, d time.Duration) error // of tests; nil: lock.Sleep
}

// places finds tables by their names on the command line.
func (e *Engine) places() place.Finder {
	return place.Finder{Stores: e.Stores, Now: e.Now, Getwd: e.Getwd}
}

// journals finds the journals of runs, and gives them their places.
func (e *Engine) journals() journal.Keeper {
	return journal.Keeper{Places: e.places(), StateDir: e.StateDir, Tool: e.Tool, Log: e.Log}
}

// Root is the place of a table as plans and documents name it.
//
// Errors: Invalid.
func (e *Engine) Root(table string) (lake.Root, error) { return e.places().Root(table) }

// wait sleeps for d, or until ctx is done.
func (e *Engine) wait(ctx context.Context, d time.Duration) error {
	if e.sleep != nil {
		return e.sleep(ctx, d)
	}
	return lock.Sleep(ctx, d)
}

// maxSkew is how far our clock and the store's may lie apart (law L7).
const maxSkew = 5 * time.Minute
