package sweep

import (
	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/sweep/internal/vacuum"
)

func (e *Engine) vacuum() *vacuum.Host {
	return &vacuum.Host{Places: e.places(), Journals: e.journals(), Observe: e.Observe, Tool: e.Tool}
}

// vacuumRequest is what a request asks of a Delta table.
func (e *Engine) vacuumRequest(req PlanRequest) vacuum.Request {
	out := vacuum.Request{
		Where: req.Where, TimeZone: req.TimeZone, Retain: req.Retain, Cutoff: req.Cutoff, Mode: req.Mode, FullEvery: req.FullEvery,
		KeepVersions: req.KeepVersions, Protect: req.Protect, Workers: req.Tuning.Workers, Memory: req.Tuning.Memory,
		Guards: guard.Options{
			RetainBelow: req.Unsafe.RetainBelow, MostlyDead: req.Unsafe.MostlyDead, MissingLive: req.Unsafe.MissingLive,
			MaxInventoryAge: req.Inventory.MaxAge,
		},
	}
	if req.Inventory.Given() {
		out.Inventory = &vacuum.Inventory{Options: e.inventory(req.Inventory), Maps: req.Inventory.maps(), Journals: req.Inventory.Journals, Name: req.Inventory.Name()}
		out.Inventory.Workers = req.Tuning.Workers
	}
	return out
}

// inventory says which list is read, and how.
func (e *Engine) inventory(req InventoryRequest) inventory.Options {
	return inventory.Options{Source: req.Source, Columns: req.Columns, Taken: req.Taken, SQL: req.SQL, Engine: e.Query, Stores: e.Stores, Now: e.Now, Observer: e.Observe}
}

func (r InventoryRequest) maps() []inventory.Map {
	maps := make([]inventory.Map, len(r.Maps))
	for i, m := range r.Maps {
		maps[i] = inventory.Map(m)
	}
	return maps
}
