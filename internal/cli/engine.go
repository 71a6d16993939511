package cli

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep"
	"github.com/lakesweep/lakesweep/table"
)

// session is what an engine is made of.
type session struct {
	now      func() time.Time
	observe  lake.Observer
	log      *slog.Logger
	stateDir string // where journals of one-shot runs lie
	tool     string // "lakesweep v1.2.3"
	tuning   sweep.Tuning
	setting  func(name string) (string, bool) // a store's setting by its name in the environment
}

// engine is what the commands need of package sweep.
type engine interface {
	planner
	cleaner
	examiner
	lister
}

type planner interface {
	// Plan plans one table; out is the file to write the plan to, "" for one that goes with its Close.
	Plan(ctx context.Context, req sweep.PlanRequest, out string) (*plan.Plan, error)
	// PlanMany plans tables that share one inventory, which is read once.
	PlanMany(ctx context.Context, reqs []sweep.PlanRequest, outs []string) ([]*plan.Plan, error)
}

type cleaner interface {
	Apply(ctx context.Context, p *plan.Plan, req sweep.ApplyRequest, emit func(sweep.Outcome)) (sweep.Result, error)
	Restore(ctx context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error)
	Purge(ctx context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error)
}

type examiner interface {
	Explain(ctx context.Context, req sweep.PlanRequest, paths []string) ([]table.Explanation, error)
	Verify(ctx context.Context, req sweep.PlanRequest) iter.Seq2[table.Finding, error]
	// Root is the place of a table as documents name it.
	Root(table string) (lake.Root, error)
	Usage(ctx context.Context, req sweep.PlanRequest) iter.Seq2[table.Usage, error]
	Inspect(ctx context.Context, req sweep.PlanRequest) (table.Info, error)
	CheckCommit(ctx context.Context, req sweep.CheckRequest) (sweep.Check, error)
	Doctor(ctx context.Context, req sweep.PlanRequest) (sweep.Diagnosis, error)
}

type lister interface {
	MakeInventory(ctx context.Context, req sweep.ListRequest, out string) (sweep.Listed, error)
	ConvertInventory(ctx context.Context, req sweep.InventoryRequest, out string) (sweep.Listed, error)
	BenchList(ctx context.Context, req sweep.ListRequest) (sweep.Listed, error)
}
