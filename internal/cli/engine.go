package cli

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
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
}

// engine is what the commands need of package sweep.
type engine interface {
	planner
	cleaner
	examiner
	lister
}

type planner interface {
	Plan(ctx context.Context, req sweep.PlanRequest) (madePlan, error)
	// Plans plans tables that share one inventory, which is read once. The plans come in the order of the requests, each with an error of its own.
	Plans(ctx context.Context, reqs []sweep.PlanRequest) iter.Seq2[madePlan, error]
	OpenPlan(ctx context.Context, file string) (madePlan, error)
}

// madePlan is a plan, made or read.
type madePlan interface {
	Head() filelist.Head
	Rows() iter.Seq2[lake.Verdict, error]
	Save(ctx context.Context, file string) error
	Close() error
}

type cleaner interface {
	Apply(ctx context.Context, p madePlan, req sweep.ApplyRequest, emit func(sweep.Outcome)) (sweep.Result, error)
	Restore(ctx context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error)
	Purge(ctx context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error)
}

type examiner interface {
	Explain(ctx context.Context, req sweep.PlanRequest, paths []string) ([]table.Explanation, error)
	Verify(ctx context.Context, req sweep.PlanRequest) iter.Seq2[table.Finding, error]
	Usage(ctx context.Context, req sweep.PlanRequest) iter.Seq2[table.Usage, error]
	Inspect(ctx context.Context, req sweep.PlanRequest) (table.Info, error)
	Doctor(ctx context.Context, req sweep.PlanRequest) (sweep.Diagnosis, error)
}

type lister interface {
	MakeInventory(ctx context.Context, req sweep.ListRequest, out string) (sweep.Listed, error)
	ConvertInventory(ctx context.Context, req sweep.InventoryRequest, out string) (sweep.Listed, error)
	BenchList(ctx context.Context, req sweep.ListRequest) (sweep.Listed, error)
}
