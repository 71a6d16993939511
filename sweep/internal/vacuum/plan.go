package vacuum

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
)

// Prepare opens a table and replays its log, which a plan takes. The run is to
// be closed.
//
// It looks at long commits only once where that does. A table that seems to
// refuse is looked at again, wholly before anything is made of it.
func (h *Host) Prepare(ctx context.Context, p *place.Place, req Request) (*Run, error) {
	started := h.Places.Now()
	run, err := h.replayed(ctx, p, req, true)
	if err != nil && run != nil && run.table.Brief() {
		switch lake.KindOf(err) {
		case lake.Transient, lake.Denied, lake.Interrupted:
		default:
			run, err = h.replayed(ctx, p, req, false)
		}
	}
	if err != nil {
		return nil, err
	}
	run.started = started
	return run, nil
}

// replayed opens a table, briefly or not, and replays its log.
func (h *Host) replayed(ctx context.Context, p *place.Place, req Request, brief bool) (*Run, error) {
	var run *Run
	var enclosed string
	var keep []lake.Key
	err := together.Do(
		func() (err error) { run, err = h.open(ctx, p, req, brief); return err },
		func() (err error) { enclosed, err = h.Places.Enclosing(ctx, p.Root, p.Aliases...); return err },
		func() (err error) { keep, err = h.protectedElsewhere(ctx, p, req.Protect); return err },
	)
	if err != nil {
		return run, err
	}
	run.enclosed = enclosed
	return run, run.protectForPlan(ctx, keep)
}

// Plan judges what is there and makes the plan, in the file out or held if that
// is "". A plan that guards refuse is made all the same, with the refusals in
// its head.
func (run *Run) Plan(ctx context.Context, out string) (*plan.Plan, error) {
	v, err := run.verdicts(ctx)
	if err != nil {
		return nil, err
	}
	return run.write(ctx, v, out)
}

// PlanListed makes the plans of runs with one pass over the inventory that
// their requests share. outs holds a file or "" for each.
//
// Errors: the first; the plans that were made come with it, and are to be closed.
func PlanListed(ctx context.Context, runs []*Run, outs []string) (plans []*plan.Plan, err error) {
	vs, err := fromInventory(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i, run := range runs {
		p, err := run.write(ctx, vs[i], outs[i])
		if err != nil {
			for _, v := range vs[i+1:] {
				err = errors.Join(err, v.close())
			}
			return plans, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// verdicts is the dead objects of a run, in byte order, with their totals.
type verdicts struct {
	rows         iter.Seq2[lake.Verdict, error]
	totals       filelist.Totals
	foreign      []string
	inventoryAge time.Duration
	outside      int64    // inventory rows outside the root
	notes        []string // what a user should know of the inventory
	close        func() error
}

// verdicts judges the log's own candidates, or joins the listing or the
// inventory with the protected set.
func (run *Run) verdicts(ctx context.Context) (*verdicts, error) {
	if run.mode == "lite" {
		return run.lite(ctx)
	}
	j := run.join(1)
	stats, err := run.list(ctx, j)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	result, err := j.Finish(ctx)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	v := &verdicts{rows: result.Dead(), totals: result.Totals, foreign: result.Foreign, close: result.Close}
	v.totals.ListRequests = stats.Requests
	return v, nil
}

// write gathers the evidence, asks the guards and makes the plan. It closes v,
// or the plan does.
func (run *Run) write(ctx context.Context, v *verdicts, out string) (p *plan.Plan, err error) {
	held := false
	defer func() {
		if !held {
			err = errors.Join(err, v.close())
		}
	}()
	h := run.head(ctx)
	if h.Evidence, err = run.evidence(ctx, v); err != nil {
		return nil, err
	}
	h.Totals = v.totals
	h.Guards, err = guard.Check(h, run.req.Guards)
	if err != nil {
		return nil, err
	}
	batch := int64(max(run.Reader.Traits().DeleteBatch, 1))
	h.Totals.DeleteRequests = (h.Totals.Dead+batch-1)/batch + h.Totals.DeadDirectories
	h.Totals.Seconds = run.host.Places.Now().Sub(run.started).Seconds()
	if out != "" {
		return plan.Create(ctx, out, h, v.rows)
	}
	p, err = plan.Hold(ctx, h, v.rows, v.close)
	held = err == nil
	return p, err
}

// head is what the run knows before candidates are judged.
func (run *Run) head(ctx context.Context) filelist.Head {
	version := run.table.Version()
	h := filelist.Head{
		PlanID: plan.NewID(run.Now), Tool: run.host.Tool, Table: run.Root.String(), Given: run.Given, TableID: run.meta.ID, Format: "delta",
		Version: &version, Created: run.Now.UTC(), Cutoff: run.cutoff.UTC(), Mode: run.mode, ModeWhy: run.why,
		Source: run.req.Inventory.name(), Where: run.req.Where, State: run.table.State(),
	}
	if run.where != nil && run.req.TimeZone != nil {
		h.TimeZone = run.req.TimeZone.String()
	}
	if run.where == nil && run.req.Inventory == nil {
		if r, err := run.table.LiteRange(ctx, run.liteRequest()); err == nil || run.mode == "full" {
			h.Watermark = r.Next
		}
	}
	return h
}
