package blobs

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
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
)

// defaultGrace is how long a blob is queued before it may die, by default.
const defaultGrace = 24 * time.Hour

// Planner returns what planning the blobs of a clean takes, nil where they are
// left alone: without the wish, or without a column that refers to blobs. The
// names of other tables in the request are made independent of where lakesweep
// runs.
//
// Errors: that of the look where there is the wish; Invalid without a place in
// which blobs may die, and for another table that is none.
func (t *Table) Planner(ctx context.Context, seen Look) (*Planner, error) {
	req, columns := &t.Request, seen.columns
	if !t.wanted() {
		return nil, nil
	}
	if seen.err != nil || len(columns) == 0 {
		return nil, seen.err
	}
	also, others, err := t.others(ctx)
	if err != nil {
		return nil, err
	}
	req.Also = also
	for _, r := range req.Roots {
		if err := notLinked(r); err != nil {
			return nil, err
		}
	}
	if len(req.Roots) == 0 {
		return nil, invalid(t.Given, "--blobs "+req.Mode+" without --blob-root", "Name the folders in which blobs of this table may be deleted with --blob-root, such as --blob-root s3://media/.")
	}
	names, err := t.names(others)
	if err != nil {
		return nil, err
	}
	p := &Planner{t: t, names: names, columns: columns, dead: make(map[lake.Key]lake.Reason), memory: t.Memory / 8,
		counts: &filelist.Blobs{Columns: columns}, due: t.Began.Add(defaultGrace)}
	if req.Grace != nil {
		p.due = t.Began.Add(*req.Grace)
	}
	p.judge = t.judgeOptions(names)
	return p, nil
}

// Planner finds the blobs that a clean's dead files were the last to refer to.
//
// Memory: a key for each dead file and what the files of their groups are
// called; a Judge's; a share of --memory for the candidates.
type Planner struct {
	t       *Table
	names   *lake.BlobNames
	columns shape.Columns
	judge   blob.Options
	due     time.Time
	memory  int64
	dead    map[lake.Key]lake.Reason
	counts  *filelist.Blobs
	notes   []string
}

// Seen notes a verdict of the clean.
func (p *Planner) Seen(v *lake.Verdict) {
	if !v.Directory {
		p.dead[lake.Key(strings.Clone(string(v.Key)))] = v.Reason
	}
}

// Rows adds the blobs that are to be queued to the plan's rows, and those that
// wait in the table's queue and are due. It returns what a user should know.
//
// Errors: those of the table and the stores.
func (p *Planner) Rows(ctx context.Context, rows *filelist.Sorter, totals *filelist.Totals) (notes []string, err error) {
	if err = p.fresh(ctx, rows, totals); err == nil {
		err = p.queued(ctx, rows, totals)
	}
	return p.notes, err
}

// fresh adds the blobs that are to be queued.
//
// Source: design/blob-safety.md, "Parts taken from the RFC" and holes H1 to H3, H7.
func (p *Planner) fresh(ctx context.Context, rows *filelist.Sorter, totals *filelist.Totals) (err error) {
	totals.Blobs = p.counts
	if len(p.dead) == 0 {
		return nil
	}
	expired, groups, err := p.cleaned(ctx)
	if err != nil {
		return err
	}
	candidates := filelist.NewSorter("", p.memory)
	defer func() { err = errors.Join(err, candidates.Close()) }()
	if err := p.gather(ctx, expired, candidates); err != nil {
		return err
	}
	round, err := blob.NewJudge(p.judge).Judge(ctx, p.ids(candidates), each(groups), p.rest(ctx, groups))
	if err != nil {
		return err
	}
	if err := p.compare(round, candidates); err != nil {
		return err
	}
	p.tell(round)
	for v, err := range distinct(candidates.Sorted()) {
		if err != nil {
			return err
		}
		if !p.listed(v, round) {
			continue
		}
		v.DueAt = p.due
		totals.Count(&v)
		if err := rows.Add(v); err != nil {
			return err
		}
	}
	return nil
}

// cleaned returns the dead files of slices, and what stays in their groups.
func (p *Planner) cleaned(ctx context.Context) (expired, stay []blob.File, err error) {
	partitions, groups := make(map[string]bool), make(map[blob.Group]bool)
	for k, reason := range p.dead {
		if f, ok := datafile.Parse(k.Base()); ok && reason != lake.FailedWrite {
			partitions[string(k.Dir())] = true
			groups[blob.Group{Partition: string(k.Dir()), FileID: f.FileID}] = true
		}
	}
	for f, err := range p.t.Hudi.DataFilesIn(ctx, slices.Sorted(maps.Keys(partitions))) {
		if err != nil {
			return nil, nil, err
		}
		switch reason, dead := p.dead[f.Key]; {
		case dead && reason != lake.FailedWrite:
			expired = append(expired, f)
		case !dead && groups[f.Group()]:
			stay = append(stay, f)
		}
	}
	return expired, stay, nil
}

// gather sorts the managed references of dead files, each with its file.
func (p *Planner) gather(ctx context.Context, expired []blob.File, to *filelist.Sorter) error {
	p.counts.Files.Expired = int64(len(expired))
	emit := func(f blob.File, r shape.Reference, column bool) error {
		if !column || !r.Managed || !r.OutOfLine || r.Path == "" {
			return nil
		}
		return to.Add(lake.Verdict{URI: r.Path, Size: -1, Reason: lake.ExpiredBlob, Referrer: f.Key})
	}
	lost := func(f blob.File, err error) error {
		p.counts.Files.Unread++
		p.notes = append(p.notes, fmt.Sprintf("blobs that only %s refers to will never be found by a clean, as it can't be read: %v", f.Key, err))
		return nil
	}
	return blob.References(ctx, p.judge, p.columns, each(expired), emit, lost)
}

// compare has the round look at the references that are no candidates for how
// they are spelled: that alone may disprove what was vouched for.
func (p *Planner) compare(round *blob.Round, candidates *filelist.Sorter) error {
	if !p.judge.Exact {
		return nil
	}
	for v, err := range candidates.Sorted() {
		id := lake.BlobID(v.URI)
		if err == nil {
			if _, standing := p.names.Place(id); standing == lake.MayDie {
				continue
			}
			err = round.Compare(v.Referrer, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ids yields the candidates that may die if nothing refers to them.
func (p *Planner) ids(candidates *filelist.Sorter) iter.Seq2[lake.BlobID, error] {
	return func(yield func(lake.BlobID, error) bool) {
		for v, err := range distinct(candidates.Sorted()) {
			id := lake.BlobID(v.URI)
			if err == nil {
				if _, standing := p.names.Place(id); standing != lake.MayDie {
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
func (p *Planner) rest(ctx context.Context, groups []blob.File) iter.Seq2[blob.File, error] {
	return func(yield func(blob.File, error) bool) {
		known := make(map[lake.Key]bool, len(groups))
		for _, f := range groups {
			known[f.Key] = true
		}
		for f, err := range p.t.Hudi.DataFiles(ctx) {
			if _, dead := p.dead[f.Key]; err == nil && (dead || known[f.Key]) {
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
func (p *Planner) listed(v lake.Verdict, round *blob.Round) bool {
	c := p.counts
	c.Candidates++
	keep := func(n *int64, why string, by lake.Key) {
		if *n++; *n <= keptNamed {
			c.Kept = append(c.Kept, filelist.Kept{Blob: v.URI, Why: why, By: string(by)})
		}
	}
	switch _, standing := p.names.Place(lake.BlobID(v.URI)); standing {
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
func (p *Planner) tell(r *blob.Round) {
	f := &p.counts.Files
	f.Remembered, f.RuledOut, f.Read, f.Skipped, f.Unread = r.Remembered, r.Ruled, r.Read, r.Skipped, f.Unread+r.UnreadFiles
	for i, n := range r.Stages {
		if i == 0 {
			f.Groups = n
		} else {
			f.Rest = n
		}
	}
	if r.Limit != "" {
		p.notes = append(p.notes, "blobs stay undecided: the search ended after "+r.Limit)
	}
	if r.Misspelled != nil {
		p.counts.Misspelled = r.Misspelled.Error()
		p.notes = append(p.notes, fmt.Sprintf("no blob can be decided on: %v. %s", r.Misspelled, lake.HintOf(r.Misspelled)))
	}
	if r.UnreadFiles > 0 {
		p.notes = append(p.notes, fmt.Sprintf("no blob can be decided on while %d files can't be read, such as %s: %v", r.UnreadFiles, r.Unread[0].Key, r.Unread[0].Err))
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
