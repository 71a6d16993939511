package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/sweep"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// fakeEngine gives fixed answers, so that scripts can show each form of output
// and each exit status. mode says what goes wrong: the name of a kind, or
// "guard", "empty", "fail", "limit".
type fakeEngine struct {
	session
	mode string
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func (f *fakeEngine) err(mode, op, tableName string) error {
	if f.mode != mode && f.mode != tableName+"="+mode {
		return nil
	}
	for k := lake.Internal; k <= lake.Interrupted; k++ {
		if k.String() == mode {
			return &lake.Error{Op: op, Table: tableName, Kind: k, Err: errors.New("as the test wishes")}
		}
	}
	return nil
}

func (f *fakeEngine) anyErr(op, tableName string) error {
	mode := f.mode
	if name, kind, ok := strings.Cut(mode, "="); ok {
		if name != tableName {
			return nil
		}
		mode = kind
	}
	return f.err(mode, op, tableName)
}

func fakeVerdicts() []lake.Verdict {
	day := lake.Partition{{Column: "day", Value: "1"}}
	return []lake.Verdict{
		{Key: "b", Size: 7, Modified: at("2026-01-03T00:00:00Z"), Reason: lake.Orphan},
		{Key: "day=1", Directory: true, Size: -1, Modified: at("2026-01-01T00:00:00Z"), Reason: lake.EmptyDirectory},
		{Key: "day=1-x/a, \"b\"", Size: 1536, Modified: at("2026-01-02T03:04:05.006Z"), Reason: lake.Tombstone, Partition: day, Tombstone: at("2026-01-05T00:00:00Z")},
		{Key: "day=2/bad\xff", Size: -1, Reason: lake.Tombstone, Partition: lake.Partition{{Column: "day", Null: true}}},
	}
}

func (f *fakeEngine) Plan(ctx context.Context, req sweep.PlanRequest, out string) (*plan.Plan, error) {
	if err := f.anyErr("plan", req.Table); err != nil {
		return nil, err
	}
	f.observe(lake.Event{Stage: "list", Done: 5, Expected: 10})
	f.observe(lake.Event{Stage: "list", Done: 10, Expected: 10, Finished: true})
	rows := fakeVerdicts()
	if f.mode == "empty" {
		rows = nil
	}
	if req.Hudi.Blobs.Mode == "plan" {
		rows = append(rows, lake.Verdict{URI: "s3://media/1.mp4", Size: -1, Reason: lake.ExpiredBlob})
	}
	version := int64(7)
	h := filelist.Head{PlanID: "20260131T000000Z-fake", Tool: f.tool, Table: req.Table, Given: req.Table, TableID: "id", Format: "delta", Version: &version,
		Created: at("2026-01-31T00:00:00Z"), Cutoff: at("2026-01-24T00:00:00Z"), Mode: "full", ModeWhy: "as asked", Where: req.Where,
		Evidence: filelist.Evidence{Retain: 168 * time.Hour, RetainTable: 168 * time.Hour},
		Guards:   []filelist.Guard{{Code: "clock_skew", Outcome: filelist.Passed, Detail: "the clocks agree"}},
		Totals:   filelist.Totals{Candidates: 10, Protected: 4, TooYoung: 3, ByReason: map[string]filelist.Count{}, ListRequests: 2, DeleteRequests: 1, Seconds: 0.5}}
	if f.mode == "guard" {
		h.Guards = append(h.Guards, filelist.Guard{Code: "retain_below", Outcome: filelist.Refused, Detail: "7 hours given, 168 hours minimum.", Fix: "Give --retain 168h."})
	}
	for _, v := range rows {
		if v.Directory {
			h.Totals.DeadDirectories++
			continue
		}
		h.Totals.Dead++
		h.Totals.DeadBytes += max(v.Size, 0)
		c := h.Totals.ByReason[string(v.Reason)]
		h.Totals.ByReason[string(v.Reason)] = filelist.Count{Objects: c.Objects + 1, Bytes: c.Bytes + max(v.Size, 0)}
	}
	seq := func(yield func(lake.Verdict, error) bool) {
		for _, v := range rows {
			if !yield(v, nil) {
				return
			}
		}
	}
	if out != "" {
		return plan.Create(ctx, out, h, seq)
	}
	return plan.Hold(ctx, h, seq, func() error { return nil })
}

func (f *fakeEngine) PlanMany(ctx context.Context, reqs []sweep.PlanRequest, outs []string) (plans []*plan.Plan, err error) {
	for i, req := range reqs {
		p, err := f.Plan(ctx, req, outs[i])
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func (f *fakeEngine) Apply(_ context.Context, p *plan.Plan, req sweep.ApplyRequest, emit func(sweep.Outcome)) (sweep.Result, error) {
	if err := f.anyErr("apply", p.Head().Table); err != nil {
		return sweep.Result{}, err
	}
	r := sweep.Result{Table: p.Head().Table, PlanID: p.Head().PlanID, Journal: "fake.journal", Seconds: 0.1}
	for v, err := range p.Rows() {
		if err != nil {
			return r, err
		}
		o := sweep.Outcome{Key: v.Key, Reason: v.Reason, Outcome: "deleted"}
		switch {
		case v.Directory:
			r.Directories++
		case f.mode == "fail" && v.Key == "b":
			o.Outcome, o.Err = "failed", errors.New("no such luck")
			r.Failed++
		case req.MaxDelete > 0 && r.Deleted == req.MaxDelete:
			o.Outcome, r.Limit = "skipped", "--max-delete"
			r.Skipped++
		case req.Quarantine != "":
			o.Outcome = "quarantined"
			r.Quarantined++
			r.Bytes += max(v.Size, 0)
		default:
			r.Deleted++
			r.Bytes += max(v.Size, 0)
		}
		emit(o)
	}
	r.Complete = r.Failed+r.Skipped == 0
	return r, nil
}

func (f *fakeEngine) Restore(_ context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error) {
	if err := f.anyErr("restore", req.Journal); err != nil {
		return sweep.Result{}, err
	}
	req.Begun("t")
	for _, p := range req.Paths {
		emit(sweep.Outcome{Key: lake.Key(p), Reason: lake.Orphan, Outcome: "restored"})
	}
	return sweep.Result{Journal: req.Journal, Restored: int64(len(req.Paths))}, nil
}

func (f *fakeEngine) Purge(_ context.Context, req sweep.UndoRequest, emit func(sweep.Outcome)) (sweep.Result, error) {
	req.Begun("t")
	emit(sweep.Outcome{Key: lake.Key("older than " + req.OlderThan.String()), Reason: lake.Orphan, Outcome: "deleted"})
	return sweep.Result{Journal: req.Journal, Purged: 1}, nil
}

func (f *fakeEngine) Explain(_ context.Context, req sweep.PlanRequest, paths []string) ([]table.Explanation, error) {
	version := int64(3)
	var all []table.Explanation
	for _, p := range paths {
		all = append(all, table.Explanation{Path: p, Verdict: "history", Because: []table.Because{
			{Version: &version, Action: "remove", Rule: "removed after the cutoff"}, {Action: "age", Rule: "younger than the cutoff"}}})
	}
	return all, f.anyErr("explain", req.Table)
}

func (f *fakeEngine) Root(table string) (lake.Root, error) {
	return lake.ParseRoot("/fake/" + table)
}

func (f *fakeEngine) Verify(_ context.Context, req sweep.PlanRequest) iter.Seq2[table.Finding, error] {
	return func(yield func(table.Finding, error) bool) {
		size := int64(10)
		if f.mode != "empty" && !yield(table.Finding{Type: "missing", Path: "a", Detail: "version 3 refers to it", Size: &size}, nil) {
			return
		}
		if err := f.anyErr("verify", req.Table); err != nil {
			yield(table.Finding{}, err)
		}
	}
}

func (f *fakeEngine) Usage(_ context.Context, req sweep.PlanRequest) iter.Seq2[table.Usage, error] {
	return func(yield func(table.Usage, error) bool) {
		rows := []table.Usage{
			{Partition: lake.Partition{{Column: "day", Value: "1"}}, Live: [2]int64{2, 2048}, Dead: [2]int64{1, 10}},
			{Live: [2]int64{}, Unknown: [2]int64{1, 5}},
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
		if err := f.anyErr("usage", req.Table); err != nil {
			yield(table.Usage{}, err)
		}
	}
}

func (f *fakeEngine) Inspect(_ context.Context, req sweep.PlanRequest) (table.Info, error) {
	version := int64(7)
	return table.Info{Table: req.Table, Format: "delta", Version: &version, Protocol: map[string]string{"reader": "1", "writer": "2"},
		Retention: "168h0m0s", RetentionSource: "the default"}, f.anyErr("inspect", req.Table)
}

func (f *fakeEngine) Doctor(_ context.Context, req sweep.PlanRequest) (sweep.Diagnosis, error) {
	d := sweep.Diagnosis{Table: req.Table, Checks: []filelist.Guard{{Code: "access", Outcome: filelist.Passed, Detail: "The place can be opened."}}}
	if f.mode == "guard" {
		d.Checks = append(d.Checks, filelist.Guard{Code: "lock", Outcome: filelist.Refused, Detail: "Somebody holds it.", Fix: "Wait."})
	}
	return d, f.anyErr("doctor", req.Table)
}

func (f *fakeEngine) CheckCommit(_ context.Context, req sweep.CheckRequest) (sweep.Check, error) {
	c := sweep.Check{Table: req.Plan.Table, Instant: req.Instant, References: int64(len(req.Files)), Conflicts: []blobqueue.Conflict{}}
	if req.Paths != nil {
		data, err := io.ReadAll(req.Paths)
		if err != nil {
			return c, err
		}
		c.References += int64(strings.Count(string(data), "\n"))
	}
	if f.mode == "guard" {
		c.Conflicts = append(c.Conflicts, blobqueue.Conflict{Path: "s3://media/x", Instant: "20260301120000000", What: "drain", State: "inflight", File: ".hoodie/x"})
	}
	return c, f.anyErr("check commit", req.Plan.Table)
}

func (f *fakeEngine) MakeInventory(_ context.Context, req sweep.ListRequest, out string) (sweep.Listed, error) {
	return sweep.Listed{Place: req.Place, Out: out, Objects: 2000, Bytes: 4096, Pages: 2, Seconds: 2}, f.anyErr("list", req.Place)
}

func (f *fakeEngine) ConvertInventory(_ context.Context, req sweep.InventoryRequest, out string) (sweep.Listed, error) {
	return sweep.Listed{Place: req.Source, Out: out, Objects: 2}, f.anyErr("convert", req.Source)
}

func (f *fakeEngine) BenchList(_ context.Context, req sweep.ListRequest) (sweep.Listed, error) {
	return sweep.Listed{Place: req.Place, Objects: 2000, Pages: 2, Seconds: 2, Floor: float64(req.Tuning.Workers)}, f.anyErr("list", req.Place)
}
