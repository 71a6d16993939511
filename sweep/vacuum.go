package sweep

import (
	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/sweep/internal/vacuum"
)

func (e *Engine) vacuum() *vacuum.Host {
	return &vacuum.Host{Places: e.places(), Journals: e.journals(), Observe: e.Observe, Tool: e.Tool}
}

// vacuum is what a request asks of a Delta table.
func (r PlanRequest) vacuum(e *Engine) vacuum.Request {
	out := vacuum.Request{
		Where: r.Where, TimeZone: r.TimeZone, Retain: r.Retain, Cutoff: r.Cutoff, Mode: r.Mode, FullEvery: r.FullEvery,
		KeepVersions: r.KeepVersions, Protect: r.Protect, Workers: r.Tuning.Workers, Memory: r.Tuning.Memory,
		Guards: r.guards(),
	}
	if r.Inventory.Given() {
		out.Inventory = &vacuum.Inventory{Options: e.inventory(r.Inventory), Maps: r.Inventory.maps(), Journals: r.Inventory.Journals, Name: r.Inventory.Name()}
		out.Inventory.Workers = r.Tuning.Workers
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
