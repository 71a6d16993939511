package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// hudiRun is a Hudi table with the configuration of a request.
type hudiRun struct {
	*place.Place
	req    PlanRequest
	table  *hudi.Table
	config retain.Config
	lock   timeline.Properties // the keys of the lock provider
}

// openHudi opens the table at p and reads what its clean is to retain: from
// the table, the file of --config and the flags, the later over the earlier.
func (e *Engine) openHudi(ctx context.Context, p *place.Place, req PlanRequest) (*hudiRun, error) {
	run := &hudiRun{Place: p, req: req, config: retain.NewConfig()}
	if err := run.refuse(); err != nil {
		return nil, err
	}
	o := hudi.Options{Now: e.hudiNow(p), Workers: req.Tuning.Workers, Aliases: p.Aliases}
	if req.Hudi.TimelineZone != "" {
		zone, err := time.LoadLocation(req.Hudi.TimelineZone)
		if err != nil {
			return nil, p.Invalid(err.Error(), "Name a zone such as UTC or Europe/Berlin with --timeline-zone.")
		}
		o.Zone = zone
	}
	var err error
	if run.table, err = hudi.Open(ctx, p.Reader, p.Root, o); err != nil {
		return nil, err
	}
	return run, run.configure()
}

// refuse names the wishes that have no meaning for Hudi tables.
func (run *hudiRun) refuse() error {
	req := run.req
	switch {
	case req.Where != "":
		return &lake.Error{Op: "plan clean", Table: run.Root.String(), Kind: lake.Invalid, Err: errors.New("--where doesn't work on Hudi tables"),
			Hint: "A clean of some partitions would move the earliest commit to retain for the whole table. Leave --where out."}
	case req.Inventory.Given():
		return run.Invalid("--inventory doesn't work on Hudi tables", "A clean asks the metadata table or lists the partitions it has to look at. Leave --inventory out.")
	case req.Retain != nil:
		return run.Invalid("--retain doesn't work on Hudi tables", "Use --retain-commits, --retain-hours or --retain-versions.")
	case req.Mode == "lite":
		return run.Invalid("--mode lite doesn't work on Hudi tables", "Leave --mode out.")
	case len(req.KeepVersions) > 0 || len(req.Protect) > 0:
		return run.Invalid("--keep-version and --protect don't work on Hudi tables", "Keep an instant with one of Hudi's savepoints.")
	}
	return nil
}

func (run *hudiRun) configure() error {
	c, h := &run.config, run.req.Hudi
	run.lock = timeline.Properties{}
	c.Orphans = h.Orphans
	if err := run.read(run.table.Properties()); err != nil {
		return err
	}
	if h.Config != "" {
		data, err := os.ReadFile(h.Config)
		if err != nil {
			return run.Invalid(err.Error(), "Name a properties file with --config.")
		}
		p, err := timeline.ParseProperties(data)
		if err != nil {
			return err
		}
		if err := run.read(p); err != nil {
			return err
		}
	}
	if h.Policy != "" {
		var err error
		if c.Policy, err = retain.ParsePolicy(h.Policy); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		n      int
		to     *int
		policy retain.Policy
	}{{h.RetainCommits, &c.Commits, retain.LatestCommits}, {h.RetainHours, &c.Hours, retain.LatestHours}, {h.RetainVersions, &c.Versions, retain.LatestVersions}} {
		if f.n == 0 {
			continue
		}
		*f.to = f.n
		if h.Policy == "" {
			c.Policy = f.policy
		} else if c.Policy != f.policy {
			return run.Invalid(fmt.Sprintf("--policy %s and a number for %s", h.Policy, f.policy), "Give the number that belongs to the policy.")
		}
	}
	if !run.req.Cutoff.IsZero() {
		if h.Policy == "" {
			c.Policy = retain.LatestHours
		}
		if c.Policy != retain.LatestHours {
			return run.Invalid("--cutoff with a policy that doesn't count hours", "Use --policy latest-hours, or leave --cutoff out.")
		}
		c.Cutoff = run.req.Cutoff
	}
	return nil
}

// read takes Hudi's keys: what to retain, and which lock the writers use.
func (run *hudiRun) read(p timeline.Properties) error {
	for k, v := range p {
		if strings.HasPrefix(k, lockPrefix) {
			run.lock[k] = v
		}
	}
	return run.config.Read(p)
}

func (e *Engine) planHudi(ctx context.Context, p *place.Place, req PlanRequest, out string) (*plan.Plan, error) {
	started := e.Now()
	run, err := e.openHudi(ctx, p, req)
	if err != nil {
		return nil, err
	}
	enclosed, err := e.places().Enclosing(ctx, run.Root, run.Aliases...)
	if err != nil {
		return nil, err
	}
	blocked, err := e.unready(ctx, run)
	if err != nil {
		return nil, err
	}
	clean, err := run.table.Plan(ctx, run.config)
	if err != nil {
		return nil, err
	}
	rows := filelist.NewSorter("", run.req.Tuning.Memory/4)
	made, err := e.writeHudi(ctx, run, clean, rows, filelist.Evidence{EnclosedBy: enclosed, Blocked: blocked}, out, started)
	if err != nil || out != "" {
		err = errors.Join(err, rows.Close())
	}
	return made, err
}

func (e *Engine) writeHudi(ctx context.Context, run *hudiRun, clean *cleanplan.Plan, rows *filelist.Sorter, seen filelist.Evidence, out string, started time.Time) (*plan.Plan, error) {
	totals := filelist.Totals{ByReason: map[string]filelist.Count{}}
	external := run.blobs(e)
	seenBlobs, err := external.Look(ctx)
	if err != nil {
		return nil, err
	}
	planner, err := external.Planner(ctx, seenBlobs)
	if err != nil {
		return nil, err
	}
	for v, err := range clean.Verdicts(ctx) {
		if err != nil {
			return nil, err
		}
		if v.Directory {
			totals.DeadDirectories++
		} else {
			totals.Count(&v)
		}
		if planner != nil {
			planner.Seen(&v)
		}
		if err := rows.Add(v); err != nil {
			return nil, err
		}
	}
	s := &clean.Summary
	if planner != nil {
		notes, err := planner.Rows(ctx, rows, &totals)
		if err != nil {
			return nil, err
		}
		s.Warnings = append(s.Warnings, notes...)
		s.ListRequests += run.table.Listed()
	}
	unqueued, notes := external.Unqueued(seenBlobs, clean, &totals)
	s.Warnings = append(s.Warnings, notes...)
	totals.Candidates, totals.Protected, totals.Foreign, totals.ListRequests = s.Candidates, s.Protected, s.Foreign, s.ListRequests
	state, err := clean.State()
	if err == nil {
		err = run.remember(state)
	}
	if err == nil && planner != nil && run.req.Hudi.Blobs.Mode == "delete" {
		state[blobs.StateKey], err = external.State()
	}
	if err != nil {
		return nil, err
	}
	h := filelist.Head{
		PlanID: plan.NewID(run.Now), Tool: e.Tool, Table: run.Root.String(), Given: run.Given, TableID: run.table.ID(), Format: "hudi",
		Instant: run.table.LastInstant(), Created: run.Now.UTC(), Mode: string(run.config.Policy), ModeWhy: clean.Why, State: state, Totals: totals,
		Evidence: filelist.Evidence{
			Listed: true, LiveExpected: s.LiveFiles, LiveSeen: s.LiveFiles - s.MissingCount, LiveMissing: s.LiveMissing, MissingCount: s.MissingCount,
			LiveFiles: s.LiveFiles, LiveBytes: s.LiveBytes, ClockSkew: run.Skew, EnclosedBy: seen.EnclosedBy, Blocked: seen.Blocked,
			Versioned: run.Status.Versioned, SoftDelete: run.Status.SoftDelete, Warnings: append(run.table.Warnings(), s.Warnings...), Unqueued: unqueued,
		},
	}
	if h.Cutoff = run.config.Cutoff.UTC(); h.Cutoff.IsZero() {
		h.Cutoff = clean.Cutoff().UTC()
	}
	if h.Guards, err = guard.Check(h, guard.Options{MostlyDead: run.req.Unsafe.MostlyDead, MissingLive: run.req.Unsafe.MissingLive, RetainBelow: run.req.Unsafe.RetainBelow}); err != nil {
		return nil, err
	}
	batch := int64(max(run.Reader.Traits().DeleteBatch, 1))
	h.Totals.DeleteRequests = (h.Totals.Dead-h.Totals.ByReason[string(lake.ExpiredBlob)].Objects+batch-1)/batch + h.Totals.DeadDirectories
	h.Totals.Seconds = e.Now().Sub(started).Seconds()
	if out != "" {
		return plan.Create(ctx, out, h, rows.Sorted())
	}
	return plan.Hold(ctx, h, rows.Sorted(), rows.Close)
}

// hudiNow is our clock, or the store's if that is behind, as it goes on.
func (e *Engine) hudiNow(p *place.Place) func() time.Time {
	return func() time.Time { return e.Now().Add(-max(p.Skew, 0)) }
}
