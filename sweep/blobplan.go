package sweep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
)

// blobGrace is how long a blob is queued before it may die, by default.
const blobGrace = 24 * time.Hour

// blobsOf returns what planning the blobs of a run takes, nil where they are
// left alone: without the wish, without a column that refers to blobs, or where
// Hudi's own key switches it off.
//
// Errors: Invalid without a place in which blobs may die.
func (e *Engine) blobsOf(ctx context.Context, run *hudiRun) (*blobPlanner, error) {
	req := run.req.Hudi.Blobs
	if req.Mode == "" || req.Mode == "off" || !run.config.Blobs.Enabled {
		return nil, nil
	}
	columns, err := run.table.BlobColumns(ctx, req.Columns)
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	if err := e.also(ctx, run); err != nil {
		return nil, err
	}
	for _, r := range req.Roots {
		if err := notLinked(r); err != nil {
			return nil, err
		}
	}
	if len(req.Roots) == 0 {
		return nil, invalid(run.given, "--blobs "+req.Mode+" without --blob-root", "Name the folders in which blobs of this table may be deleted with --blob-root, such as --blob-root s3://media/.")
	}
	names, err := run.blobNames()
	if err != nil {
		return nil, err
	}
	b := &blobPlanner{run: run, names: names, columns: columns, dead: make(map[lake.Key]lake.Reason), memory: run.req.Tuning.Memory / 8,
		counts: &filelist.Blobs{Columns: columns}, due: run.now.Add(blobGrace)}
	if req.Grace != nil {
		b.due = run.now.Add(*req.Grace)
	}
	b.judge = run.judgeOptions(e, names)
	return b, nil
}

// also makes the tables of --also-references independent of where lakesweep
// runs, and makes sure that they are there.
//
// Errors: Invalid for a place that is no Hudi table.
func (e *Engine) also(ctx context.Context, run *hudiRun) error {
	req := &run.req.Hudi.Blobs
	req.Also = slices.Clone(req.Also)
	for i, other := range req.Also {
		p, err := e.open(ctx, other)
		if err != nil {
			return err
		}
		if found, err := detectHudi(ctx, p); err != nil {
			return err
		} else if !found {
			return invalid(other, "--also-references names no Hudi table", "Name the root of a Hudi table that shares the blobs.")
		}
		req.Also[i] = p.root.String()
	}
	return nil
}

// blobNames reads how blobs of the run's table are spelled.
func (run *hudiRun) blobNames() (*lake.BlobNames, error) {
	o := lake.BlobOptions{Table: run.root, Aliases: run.aliases, Roots: run.req.Hudi.Blobs.Roots}
	for _, other := range run.req.Hudi.Blobs.Also {
		root, err := lake.ParseRoot(other)
		if err != nil {
			return nil, err
		}
		o.Others = append(o.Others, root)
	}
	for _, m := range run.req.Inventory.Maps {
		o.Maps = append(o.Maps, lake.BlobMap(m))
	}
	return lake.NewBlobNames(o)
}

// judgeOptions are those of a Judge of the run's table, with its ledger.
func (run *hudiRun) judgeOptions(e *Engine, names *lake.BlobNames) blob.Options {
	o := run.table.BlobOptions()
	o.Names, o.Workers, o.Observe = names, run.config.Blobs.Parallelism, e.Observe
	o.MaxFiles, o.MaxBytes = run.req.Hudi.Blobs.ScanFiles, run.req.Hudi.Blobs.ScanBytes
	if run.req.Tuning.Workers > 0 {
		o.Workers = run.req.Tuning.Workers
	}
	if e.StateDir != "" {
		o.Ledger = blob.OpenLedger(e.StateDir, run.table.ID(), run.root)
	}
	return o
}

// blobPlanner finds the blobs that a clean's dead files were the last to refer to.
//
// Memory: a key for each dead file and what the files of their groups are
// called; a Judge's; a share of --memory for the candidates.
type blobPlanner struct {
	run     *hudiRun
	names   *lake.BlobNames
	columns blob.Columns
	judge   blob.Options
	due     time.Time
	memory  int64
	dead    map[lake.Key]lake.Reason
	counts  *filelist.Blobs
	notes   []string
}

// seen notes a dead file.
func (b *blobPlanner) seen(v *lake.Verdict) {
	if !v.Directory {
		b.dead[lake.Key(strings.Clone(string(v.Key)))] = v.Reason
	}
}

// rows adds the blobs that are to be queued to the plan's rows.
//
// Source: design/blob-safety.md, "Parts taken from the RFC" and holes H1 to H3, H7.
func (b *blobPlanner) rows(ctx context.Context, rows *filelist.Sorter, totals *filelist.Totals) (err error) {
	totals.Blobs = b.counts
	if len(b.dead) == 0 {
		return nil
	}
	expired, groups, err := b.cleaned(ctx)
	if err != nil {
		return err
	}
	candidates := filelist.NewSorter("", b.memory)
	defer func() { err = errors.Join(err, candidates.Close()) }()
	if err := b.gather(ctx, expired, candidates); err != nil {
		return err
	}
	round, err := blob.NewJudge(b.judge).Judge(ctx, b.ids(candidates), each(groups), b.rest(ctx, groups))
	if err != nil {
		return err
	}
	b.tell(round)
	for v, err := range distinct(candidates.Sorted()) {
		if err != nil {
			return err
		}
		if !b.listed(v, round) {
			continue
		}
		v.DueAt = b.due
		count(totals, &v)
		if err := rows.Add(v); err != nil {
			return err
		}
	}
	return nil
}

// cleaned returns the dead files of slices, and what stays in their groups.
func (b *blobPlanner) cleaned(ctx context.Context) (expired, stay []blob.File, err error) {
	partitions, groups := make(map[string]bool), make(map[blob.Group]bool)
	for k, reason := range b.dead {
		if f, ok := datafile.Parse(k.Base()); ok && reason != lake.FailedWrite {
			partitions[string(k.Dir())] = true
			groups[blob.Group{Partition: string(k.Dir()), FileID: f.FileID}] = true
		}
	}
	for f, err := range b.run.table.DataFilesIn(ctx, slices.Sorted(maps.Keys(partitions))) {
		if err != nil {
			return nil, nil, err
		}
		switch reason, dead := b.dead[f.Key]; {
		case dead && reason != lake.FailedWrite:
			expired = append(expired, f)
		case !dead && groups[f.Group()]:
			stay = append(stay, f)
		}
	}
	return expired, stay, nil
}

// gather sorts the managed references of dead files, each with its file.
func (b *blobPlanner) gather(ctx context.Context, expired []blob.File, to *filelist.Sorter) error {
	b.counts.Files.Expired = int64(len(expired))
	emit := func(f blob.File, r blob.Reference, column bool) error {
		if !column || !r.Managed || !r.OutOfLine || r.Path == "" {
			return nil
		}
		return to.Add(lake.Verdict{URI: r.Path, Size: -1, Reason: lake.ExpiredBlob, Referrer: f.Key})
	}
	lost := func(f blob.File, err error) error {
		b.counts.Files.Unread++
		b.notes = append(b.notes, fmt.Sprintf("blobs that only %s refers to will never be found by a clean, as it can't be read: %v", f.Key, err))
		return nil
	}
	return blob.References(ctx, b.judge, b.columns, each(expired), emit, lost)
}

// ids yields the candidates that may die if nothing refers to them.
func (b *blobPlanner) ids(candidates *filelist.Sorter) iter.Seq2[lake.BlobID, error] {
	return func(yield func(lake.BlobID, error) bool) {
		for v, err := range distinct(candidates.Sorted()) {
			id := lake.BlobID(v.URI)
			if err == nil {
				if _, standing := b.names.Place(id); standing != lake.MayDie {
					continue
				}
			}
			if !yield(id, err) {
				return
			}
		}
	}
}

// rest yields all files that stay, but for those of groups.
func (b *blobPlanner) rest(ctx context.Context, groups []blob.File) iter.Seq2[blob.File, error] {
	return func(yield func(blob.File, error) bool) {
		known := make(map[lake.Key]bool, len(groups))
		for _, f := range groups {
			known[f.Key] = true
		}
		for f, err := range b.run.table.DataFiles(ctx) {
			if _, dead := b.dead[f.Key]; err == nil && (dead || known[f.Key]) {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// keptNamed is how many kept blobs of each kind are named.
const keptNamed = 10

// listed counts a candidate and reports whether it is to be queued.
func (b *blobPlanner) listed(v lake.Verdict, round *blob.Round) bool {
	c := b.counts
	c.Candidates++
	keep := func(n *int64, why string, by lake.Key) {
		if *n++; *n <= keptNamed {
			c.Kept = append(c.Kept, filelist.Kept{Blob: v.URI, Why: why, By: string(by)})
		}
	}
	switch _, standing := b.names.Place(lake.BlobID(v.URI)); standing {
	case lake.OddSpelling:
		keep(&c.OddSpelling, standing.String(), "")
		return false
	case lake.InsideTable:
		keep(&c.InsideTable, standing.String(), "")
		return false
	case lake.OutsideRoots:
		keep(&c.OutsideRoots, standing.String(), "")
		return false
	}
	switch found := round.Of(lake.BlobID(v.URI)); found.Fate {
	case blob.Referenced:
		keep(&c.Referenced, found.Fate.String(), found.By)
		return false
	case blob.Pending:
		keep(&c.Pending, found.Fate.String(), found.By)
	case blob.Unreferenced:
		c.Unreferenced++
	default:
		c.Undecided++
	}
	return true
}

// tell takes what a round counted into the summary.
func (b *blobPlanner) tell(r *blob.Round) {
	f := &b.counts.Files
	f.Remembered, f.RuledOut, f.Read, f.Skipped, f.Unread = r.Remembered, r.Ruled, r.Read, r.Skipped, f.Unread+r.UnreadFiles
	for i, n := range r.Stages {
		if i == 0 {
			f.Groups = n
		} else {
			f.Rest = n
		}
	}
	if r.Limit != "" {
		b.notes = append(b.notes, "blobs stay undecided: the search ended after "+r.Limit)
	}
	if r.UnreadFiles > 0 {
		b.notes = append(b.notes, fmt.Sprintf("no blob can be decided on while %d files can't be read, such as %s: %v", r.UnreadFiles, r.Unread[0].Key, r.Unread[0].Err))
	}
}

// each yields the files of a list.
func each(list []blob.File) iter.Seq2[blob.File, error] {
	return func(yield func(blob.File, error) bool) {
		for _, f := range list {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// distinct joins the rows of one blob, which follow each other, with the file
// of the latest instant.
func distinct(rows iter.Seq2[lake.Verdict, error]) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		var last lake.Verdict
		for v, err := range rows {
			switch {
			case err != nil:
				yield(v, err)
				return
			case v.URI != last.URI && last.URI != "" && !yield(last, nil):
				return
			case v.URI != last.URI || later(v.Referrer, last.Referrer):
				last = v
			}
		}
		if last.URI != "" {
			yield(last, nil)
		}
	}
}

// later reports whether the file a is of a later instant than b.
func later(a, b lake.Key) bool {
	x, _ := datafile.Parse(a.Base())
	y, _ := datafile.Parse(b.Base())
	return x.Instant > y.Instant || x.Instant == y.Instant && a > b
}
