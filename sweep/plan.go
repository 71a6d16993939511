package sweep

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/antijoin"
	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
)

// Plan works out what is dead in one table. It reads only. A plan that guards
// refuse is returned all the same, with the refusals in its head; it can be
// shown and not applied. With out the plan is written to that file, else it
// holds its rows until its Close.
//
// Errors: the table's and the stores'; Invalid for a request that can't be
// met. Where the state of the table can't be known there is no plan at all.
func (e *Engine) Plan(ctx context.Context, req PlanRequest, out string) (*plan.Plan, error) {
	plans, err := e.PlanMany(ctx, []PlanRequest{req}, []string{out})
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// PlanMany plans several tables with one pass over their common inventory, or
// one after the other without one. outs holds a file or "" for each.
//
// Errors: the first; then no plan is returned, and files already written stay.
func (e *Engine) PlanMany(ctx context.Context, reqs []PlanRequest, outs []string) (plans []*plan.Plan, err error) {
	defer func() {
		if err != nil {
			for _, p := range plans {
				err = errors.Join(err, p.Close())
			}
			plans = nil
		}
	}()
	for _, out := range outs {
		if out == "" {
			continue
		}
		if err := e.places().Outside(ctx, "--out", out); err != nil {
			return nil, err
		}
	}
	for _, req := range reqs {
		if now := req.AtOnce; now != nil && now.Journal == "" && now.Quarantine == "" {
			// A run whose journal could have no place is refused before anything is planned.
			if err := e.journals().Ready(req.Table); err != nil {
				return nil, err
			}
		}
	}
	if len(reqs) > 0 && reqs[0].Inventory.Given() {
		var runs []*deltaRun
		defer func() {
			for _, run := range runs {
				err = errors.Join(err, run.close())
			}
		}()
		for _, req := range reqs {
			run, err := e.prepare(ctx, req)
			if err != nil {
				return plans, err
			}
			runs = append(runs, run)
		}
		vs, err := e.fromInventory(ctx, runs)
		if err != nil {
			return plans, err
		}
		for i, run := range runs {
			p, err := e.write(ctx, run, vs[i], outs[i])
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
	for i, req := range reqs {
		p, err := e.planOne(ctx, req, outs[i])
		if err != nil {
			return plans, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (e *Engine) planOne(ctx context.Context, req PlanRequest, out string) (made *plan.Plan, err error) {
	p, format, err := e.places().OpenAs(ctx, req.Table, req.Format)
	if err != nil {
		return nil, err
	}
	if err := req.fits(format); err != nil {
		return nil, err
	}
	if format == "hudi" {
		return e.planHudi(ctx, p, req, out)
	}
	run, err := e.prepareAt(ctx, p, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.close()) }()
	v, err := e.verdicts(ctx, run)
	if err != nil {
		return nil, err
	}
	return e.write(ctx, run, v, out)
}

// prepare opens a Delta table and replays its log.
func (e *Engine) prepare(ctx context.Context, req PlanRequest) (*deltaRun, error) {
	p, err := e.openDeltaOnly(ctx, req)
	if err == nil {
		err = req.fits("delta")
	}
	if err != nil {
		return nil, err
	}
	return e.prepareAt(ctx, p, req)
}

// prepareAt looks at long commits only once where that does. A table that seems
// to refuse is looked at again, wholly before anything is made of it.
func (e *Engine) prepareAt(ctx context.Context, p *place.Place, req PlanRequest) (*deltaRun, error) {
	started := e.Now()
	run, err := e.replayed(ctx, p, req, true)
	if err != nil && run != nil && run.table.Brief() {
		switch lake.KindOf(err) {
		case lake.Transient, lake.Denied, lake.Interrupted:
		default:
			run, err = e.replayed(ctx, p, req, false)
		}
	}
	if err != nil {
		return nil, err
	}
	run.started = started
	return run, nil
}

// replayed opens a table, briefly or not, and replays its log.
func (e *Engine) replayed(ctx context.Context, p *place.Place, req PlanRequest, brief bool) (*deltaRun, error) {
	var run *deltaRun
	var enclosed string
	var keep []lake.Key
	err := together.Do(
		func() (err error) { run, err = e.openDelta(ctx, p, req, brief); return err },
		func() (err error) { enclosed, err = e.places().Enclosing(ctx, p.Root, p.Aliases...); return err },
		func() (err error) { keep, err = e.protectedElsewhere(ctx, p, req.Protect); return err },
	)
	if err != nil {
		return run, err
	}
	run.enclosed = enclosed
	return run, run.protectForPlan(ctx, keep)
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
func (e *Engine) verdicts(ctx context.Context, run *deltaRun) (*verdicts, error) {
	if run.mode == "lite" {
		return run.lite(ctx)
	}
	j := e.join(run, 1)
	stats, err := e.list(ctx, run, j)
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
func (e *Engine) write(ctx context.Context, run *deltaRun, v *verdicts, out string) (p *plan.Plan, err error) {
	held := false
	defer func() {
		if !held {
			err = errors.Join(err, v.close())
		}
	}()
	h := run.head(ctx, e.Tool)
	h.Totals = v.totals
	if h.Evidence, err = run.evidence(ctx, v); err != nil {
		return nil, err
	}
	unsafe := run.req.Unsafe
	h.Guards, err = guard.Check(h, guard.Options{
		RetainBelow: unsafe.RetainBelow, MostlyDead: unsafe.MostlyDead, MissingLive: unsafe.MissingLive,
		MaxInventoryAge: run.req.Inventory.MaxAge,
	})
	if err != nil {
		return nil, err
	}
	batch := int64(max(run.Reader.Traits().DeleteBatch, 1))
	h.Totals.DeleteRequests = (h.Totals.Dead+batch-1)/batch + h.Totals.DeadDirectories
	h.Totals.Seconds = e.Now().Sub(run.started).Seconds()
	if out != "" {
		return plan.Create(ctx, out, h, v.rows)
	}
	p, err = plan.Hold(ctx, h, v.rows, v.close)
	held = err == nil
	return p, err
}

// head is what the run knows before candidates are judged.
func (run *deltaRun) head(ctx context.Context, tool string) filelist.Head {
	version := run.table.Version()
	h := filelist.Head{
		PlanID: plan.NewID(run.Now), Tool: tool, Table: run.Root.String(), Given: run.Given, TableID: run.meta.ID, Format: "delta",
		Version: &version, Created: run.Now.UTC(), Cutoff: run.cutoff.UTC(), Mode: run.mode, ModeWhy: run.why,
		Source: run.req.Inventory.Name(), Where: run.req.Where, State: run.table.State(),
	}
	if run.where != nil && run.req.TimeZone != nil {
		h.TimeZone = run.req.TimeZone.String()
	}
	if run.where == nil && !run.req.Inventory.Given() {
		if r, err := run.table.LiteRange(ctx, run.liteRequest()); err == nil || run.mode == "full" {
			h.Watermark = r.Next
		}
	}
	return h
}

// liteStats is how many candidates of LITE are looked at at once.
const liteStats = 32

// lite gathers the verdicts that the log alone gives, sorted.
func (run *deltaRun) lite(ctx context.Context) (*verdicts, error) {
	sorter := filelist.NewSorter("", run.req.Tuning.Memory/4)
	v := &verdicts{totals: filelist.Totals{ByReason: map[string]filelist.Count{}}, rows: sorter.Sorted(), close: sorter.Close}
	match := func(lake.Key) antijoin.Match { return antijoin.True }
	if run.where != nil {
		match = run.where.Match(run.protected, nil)
	}
	inside, foreign := run.Insides(), map[lake.Key]bool{}
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(liteStats)
	for verdict, err := range run.table.Lite(ctx, run.liteRequest(), run.protected) {
		if err != nil {
			return nil, errors.Join(err, group.Wait(), sorter.Close())
		}
		if !run.rules.Visible(verdict.Key) {
			continue // a full run leaves it alone too
		}
		group.Go(func() error {
			// What an earlier run deleted is named by the log all the same.
			info, err := run.Reader.Stat(gctx, string(verdict.Key))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if info.Kind != store.File {
				return nil
			}
			verdict.Size, verdict.Modified, verdict.ETag = info.Size, info.Modified, info.ETag
			root, theirs, err := inside(gctx, verdict.Key.Dir())
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if theirs {
				foreign[root] = true
				v.totals.Foreign++
				return nil
			}
			v.totals.Candidates++
			switch match(verdict.Key) {
			case antijoin.Unknown:
				v.totals.KeptUnknown++
			case antijoin.False:
				v.totals.Unmatched++
			case antijoin.True:
				v.totals.Count(&verdict)
				return sorter.Add(verdict)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	for _, root := range slices.Sorted(maps.Keys(foreign)) {
		v.foreign = append(v.foreign, string(root))
	}
	return v, nil
}
