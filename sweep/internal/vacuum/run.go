package vacuum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
	"github.com/lakesweep/lakesweep/sweep/internal/where"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Run is a Delta table with what a request makes of it: what the log says,
// before anything is listed.
type Run struct {
	*place.Place
	host      *Host
	req       Request
	table     *delta.Table
	meta      meta.Metadata
	rules     meta.Rules
	retain    time.Duration // asked for
	property  time.Duration // the table's own
	cutoff    time.Time
	mode      string
	why       string        // of the mode
	where     *where.Filter // nil without WHERE
	watermark delta.Watermark
	protected *delta.Protection
	narrow    bool // protected tells only of directories that WHERE may match
	started   time.Time
	enclosed  string              // the root of a table around this one
	inventory inventory.Info      // zero for a listing
	gone      func(lake.Key) bool // what journals record as gone since the inventory was taken
}

// open opens the table and settles retention, mode and predicate: all
// that can be refused before the data is touched.
//
// With brief the run of a table that was opened briefly comes with its errors.
func (h *Host) open(ctx context.Context, p *place.Place, req Request, brief bool) (*Run, error) {
	var t *delta.Table
	var iceberg time.Time
	err := together.Do(
		func() (err error) { t, err = p.Delta(ctx, req.Workers, brief, h.Observe); return err },
		func() (err error) { iceberg, err = delta.NewestIcebergMetadata(ctx, p.Reader); return err },
	)
	if err != nil {
		return nil, err
	}
	run := &Run{Place: p, host: h, req: req, table: t, meta: t.Metadata(), rules: t.Rules()}
	if err := run.settleCutoff(); err != nil {
		return run, err
	}
	if err := run.settleMode(ctx); err != nil {
		return run, err
	}
	if req.Where != "" {
		if run.where, err = where.Compile(req.Where, run.meta, predicate.Options{Now: p.Now, Zone: req.TimeZone}); err != nil {
			return run, err
		}
	}
	run.rules.HideRootMetadata = !iceberg.IsZero() && !iceberg.Before(run.cutoff)
	return run, nil
}

func (run *Run) settleCutoff() (err error) {
	if run.property, err = run.table.Retention(); err != nil {
		return err
	}
	switch req := run.req; {
	case !req.Cutoff.IsZero() && req.Retain != nil:
		return run.Invalid("--cutoff and --retain exclude each other", "Give one of them.")
	case !req.Cutoff.IsZero():
		run.cutoff, run.retain = req.Cutoff.UTC(), run.Now.Sub(req.Cutoff)
	case req.Retain != nil:
		if *req.Retain < 0 {
			return run.Invalid("a negative retention", "Write --retain 168h or more.")
		}
		run.retain = *req.Retain
		run.cutoff = run.Now.Add(-run.retain)
	default:
		run.retain = run.property
		run.cutoff = run.Now.Add(-run.retain)
	}
	return nil
}

// settleMode chooses between full and lite (design/product.md, "Modes").
func (run *Run) settleMode(ctx context.Context) (err error) {
	if run.watermark, err = run.table.Watermark(ctx); err != nil {
		return err
	}
	inventory := run.req.Inventory != nil
	switch run.req.Mode {
	case "full":
		run.mode, run.why = "full", "asked for"
		return nil
	case "lite":
		if inventory {
			return run.Invalid("lite mode reads no inventory", "Leave out --mode lite or --inventory.")
		}
		run.mode, run.why = "lite", "asked for"
		_, err = run.table.LiteRange(ctx, run.liteRequest())
		return err
	case "", "auto":
	default:
		return run.Invalid(fmt.Sprintf("unknown mode %q", run.req.Mode), "Write --mode auto, full or lite.")
	}
	run.mode = "full"
	every := run.req.FullEvery
	if every == 0 {
		every = 7 * 24 * time.Hour
	}
	switch last := run.watermark.LastFull; {
	case inventory:
		run.why = "an inventory was given"
	case last.IsZero(), last.After(run.Now.Add(time.Hour)): // no run ended in the future
		run.why = "no full run is on record"
	case run.Now.Sub(last) > every:
		run.why = fmt.Sprintf("the last full run ended %s ago", run.Now.Sub(last).Round(time.Minute))
	default:
		_, err := run.table.LiteRange(ctx, run.liteRequest())
		var refused *lake.Error
		switch {
		case err == nil:
			run.mode, run.why = "lite", fmt.Sprintf("a full run ended %s ago; orphans are looked for by --mode full", run.Now.Sub(last).Round(time.Minute))
		case errors.As(err, &refused) && refused.Kind == lake.Refused:
			run.why = "lite can't be proved: " + refused.Error()
		default:
			return err
		}
	}
	return nil
}

func (run *Run) liteRequest() delta.LiteRequest {
	return delta.LiteRequest{Cutoff: run.cutoff, Watermark: run.watermark}
}

// protectForPlan replays the log as far as a plan asks for it. With WHERE most
// of the live files of a table lie in directories where nothing may die, and to
// remember them takes a good part of the time. They are left out, and match
// keeps whatever lies there, so that no live file depends on the choice of the
// directories being right. Should the log place a file that WHERE names there
// all the same, everything is remembered. The number of live files, the sample
// of names and what a complete listing must show are the same.
//
// An inventory names objects anywhere, and the counts of a plan tell of all.
func (run *Run) protectForPlan(ctx context.Context, keep []lake.Key) error {
	run.narrow = run.where != nil && run.mode == "full" && run.req.Inventory == nil && !run.Reader.Traits().CaseFolds
	if err := run.protect(ctx, keep); err != nil || !run.narrow || run.where.NamesOnly(run.protected.Partitions, run.expectedIn()) {
		return err
	}
	if err := run.Close(); err != nil {
		return err
	}
	run.narrow = false
	return run.protect(ctx, keep)
}

// protect replays the log.
func (run *Run) protect(ctx context.Context, keep []lake.Key) (err error) {
	run.protected, err = run.table.Protect(ctx, delta.ProtectRequest{
		Narrow: run.narrow, Cutoff: run.cutoff, KeepVersions: run.req.KeepVersions, Partitions: run.where != nil,
		CaseFold: run.Reader.Traits().CaseFolds, Expect: run.rules.Visible, ExpectIn: run.expectedIn(), Keep: keep, Memory: run.req.Memory / 2,
	})
	return err
}

// Close gives up what the protected set holds on disk.
func (run *Run) Close() error {
	if run.protected == nil {
		return nil
	}
	return run.protected.Set.Close()
}

// expected says which live files a complete listing of this run must show: all
// that are visible, in the directories that it lists.
func (run *Run) expected() func(lake.Key) bool {
	lists := run.expectedIn()
	return func(k lake.Key) bool { return (lists == nil || lists(k.Dir())) && run.rules.Visible(k) }
}

// expectedIn says in which directories: with WHERE in those that are listed
// whatever the log says of them. Nil means in all.
func (run *Run) expectedIn() func(dir lake.Key) bool {
	if run.where == nil {
		return nil
	}
	return run.where.MayMatchDir()
}

// needsDir reports which directories this run has to list.
func (run *Run) needsDir() func(lake.Key) bool {
	if run.where == nil {
		return func(lake.Key) bool { return true }
	}
	return run.where.Needs(run.protected.Partitions)
}
