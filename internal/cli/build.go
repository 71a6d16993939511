package cli

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/sweep"
)

// newEngine makes the engine of a run. Each store is one line here.
func newEngine(s session) engine {
	pacers := pacers{opt: store.PaceOptions{ListRate: s.tuning.ListRate, DeleteRate: s.tuning.DeleteRate}}
	return sweeper{&sweep.Engine{
		Stores: store.Registry{
			Classes: map[string]store.OpenFunc{
				"file": local.Open,
			},
			Wrap: func(root lake.Root, st store.Store) store.Store {
				return store.Retry(pacers.of(root).Pace(store.Trace(st, s.log)), store.RetryOptions{})
			},
		},
		Now: s.now, Observe: s.observe, Log: s.log, StateDir: s.stateDir, Tool: s.tool, Getwd: os.Getwd,
	}}
}

// pacers holds one pace a bucket, whichever of its tables is worked on. Safe
// for concurrent use.
type pacers struct {
	opt store.PaceOptions
	mu  sync.Mutex
	all map[string]*store.Pacer
}

func (p *pacers) of(root lake.Root) *store.Pacer {
	p.mu.Lock()
	defer p.mu.Unlock()
	bucket := root.Class() + "://" + root.Authority
	if p.all == nil {
		p.all = map[string]*store.Pacer{}
	}
	if p.all[bucket] == nil {
		p.all[bucket] = store.NewPacer(p.opt)
	}
	return p.all[bucket]
}

// sweeper adapts the engine.
type sweeper struct{ *sweep.Engine }

func missing(what string) error {
	return &lake.Error{Op: what, Kind: lake.Unsupported, Err: errors.New("this build can't do it")}
}

func (s sweeper) MakeInventory(context.Context, sweep.ListRequest, string) (sweep.Listed, error) {
	return sweep.Listed{}, missing("inventory make")
}
func (s sweeper) ConvertInventory(context.Context, sweep.InventoryRequest, string) (sweep.Listed, error) {
	return sweep.Listed{}, missing("inventory convert")
}
func (s sweeper) BenchList(context.Context, sweep.ListRequest) (sweep.Listed, error) {
	return sweep.Listed{}, missing("bench list")
}
