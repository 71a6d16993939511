package blobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// judged is a table whose references keep blobs: the plan's own, or one that
// shares them.
type judged struct {
	table *Table
	names *lake.BlobNames
	seen  map[string]timeline.State // writes, by time and action, as the last look found them
	last  string                    // the latest time on the timeline that look found
}

// judge judges blobs against the files of tables. It implements drain.Judge.
type judge struct{ tables []*judged }

// rounds is what the judges of several tables found out.
type rounds struct {
	list []*blob.Round
	lost error // what some write refers to can't be known
}

// Of returns the finding that keeps a blob most.
func (rs rounds) Of(id lake.BlobID) blob.Finding {
	found := blob.Finding{Fate: blob.Unreferenced}
	if rs.lost != nil {
		found.Fate = blob.Undecided
	}
	rank := func(f blob.Fate) int {
		return map[blob.Fate]int{blob.Unreferenced: 0, blob.Pending: 1, blob.Undecided: 2, blob.Referenced: 3}[f]
	}
	for _, r := range rs.list {
		if f := r.Of(id); rank(f.Fate) > rank(found.Fate) {
			found = f
		}
	}
	return found
}

// Unread names the first file that couldn't be read, or that disproves what was
// vouched for.
func (rs rounds) Unread() error {
	if rs.lost != nil {
		return rs.lost
	}
	for _, r := range rs.list {
		if r.Misspelled != nil {
			return r.Misspelled
		}
		if r.UnreadFiles > 0 {
			return fmt.Errorf("%d files of the table can't be read, the first %s: %w", r.UnreadFiles, r.Unread[0].Key, r.Unread[0].Err)
		}
	}
	return nil
}

// All judges against every file of every table.
func (j *judge) All(ctx context.Context, candidates drain.Candidates) (drain.Round, error) {
	var out rounds
	for _, t := range j.tables {
		r, err := t.all(ctx, candidates)
		if err != nil {
			return nil, err
		}
		out.list = append(out.list, r)
	}
	return out, nil
}

// Since judges against the files of the writes that were completed since. Where
// a write can't be asked any more, nothing is Unreferenced.
func (j *judge) Since(ctx context.Context, candidates drain.Candidates) (drain.Round, bool, error) {
	var out rounds
	began := false
	// Slices that were moved away before All found what it did are held by now.
	held, err := j.held(ctx)
	if err != nil {
		return nil, false, err
	}
	if held != "" {
		out.lost = errors.New(held)
	}
	for _, t := range j.tables {
		r, more, err := t.since(ctx, candidates)
		if errors.Is(err, errLost) {
			out.lost = err
		} else if err != nil {
			return nil, false, err
		}
		began = began || more
		if r != nil {
			out.list = append(out.list, r)
		}
	}
	if out.list == nil && out.lost == nil {
		return nil, began, nil
	}
	return out, began, nil
}

// InFlight judges against what the writes in flight have written so far.
func (j *judge) InFlight(ctx context.Context, candidates drain.Candidates) (drain.Round, error) {
	var out rounds
	for _, t := range j.tables {
		r, err := t.inflight(ctx, candidates)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out.list = append(out.list, r)
		}
	}
	if out.list == nil {
		return nil, nil
	}
	return out, nil
}

func (j *judged) all(ctx context.Context, candidates drain.Candidates) (*blob.Round, error) {
	var err error
	if j.table.Hudi, err = hudi.Open(ctx, j.table.Reader, j.table.Root, j.table.Hudi.Options()); err != nil {
		return nil, err
	}
	j.seen, j.last = writesOf(j.table.Hudi.Timeline()), j.table.Hudi.Timeline().LastTime()
	return blob.NewJudge(j.table.judgeOptions(j.names)).Judge(ctx, candidates, j.table.Hudi.DataFiles(ctx))
}

// writesOf returns the writes on a timeline. Of compaction and clustering only
// complete ones count: until then their input stays, with the same references.
func writesOf(t *timeline.Timeline) map[string]timeline.State {
	out := make(map[string]timeline.State)
	for _, i := range t.Instants {
		service := i.Action != i.Action.Comparable()
		if timeline.IsWrite(i.Action) && (!service || i.State == timeline.Completed) {
			out[i.Time+"."+string(i.Action.Comparable())] = i.State
		}
	}
	return out
}

// errLost: a write may have been completed that can't be asked what it refers
// to. The next run asks all files, its own among them.
var errLost = errors.New("a write was completed or undone while blobs were judged, and its files can't be told any more")

// since judges against what was completed since the last look.
//
// Errors: errLost.
func (j *judged) since(ctx context.Context, candidates drain.Candidates) (*blob.Round, bool, error) {
	now, err := j.table.Hudi.Timeline().Reload(ctx)
	if err != nil {
		return nil, false, err
	}
	if j.lost(now) {
		return nil, false, errLost
	}
	began := false
	var files []blob.File
	done := make(map[string]bool)
	for _, i := range now.Instants {
		key := i.Time + "." + string(i.Action.Comparable())
		before, known := j.seen[key]
		switch {
		case !timeline.IsWrite(i.Action):
		case i.State != timeline.Completed:
			began = began || !known && i.Action == i.Action.Comparable()
		case !known || before != timeline.Completed:
			done[i.Time] = true
			more, err := j.written(ctx, now, i)
			if err != nil {
				return nil, false, err
			}
			files = append(files, more...)
		}
	}
	j.seen, j.last = writesOf(now), now.LastTime()
	if len(files) == 0 {
		return nil, began, nil
	}
	o := j.some()
	committed := o.Committed
	o.Committed = func(ctx context.Context, instant string) (bool, error) {
		if done[instant] {
			return true, nil
		}
		return committed(ctx, instant)
	}
	r, err := blob.NewJudge(o).Judge(ctx, candidates, each(files))
	return r, began, err
}

// some returns the options of a judge of some files only.
func (j *judged) some() blob.Options {
	o := j.table.judgeOptions(j.names)
	o.Ledger, o.Index = nil, nil // what it remembers is of all files
	return o
}

// inflight judges against the files that are there of writes in flight. The
// input of compaction and clustering stays until they are complete, with the
// same references.
func (j *judged) inflight(ctx context.Context, candidates drain.Candidates) (*blob.Round, error) {
	now, err := j.table.Hudi.Timeline().Reload(ctx)
	if err != nil {
		return nil, err
	}
	var files []blob.File
	for _, i := range now.Instants {
		if !timeline.IsWrite(i.Action) || i.State == timeline.Completed || i.Action != i.Action.Comparable() {
			continue
		}
		marked, err := timeline.Marked(ctx, j.table.Reader, i.Time)
		if err != nil {
			return nil, err
		}
		for _, name := range marked {
			f, err := j.table.file(ctx, name, i.Time)
			if errors.Is(err, fs.ErrNotExist) {
				continue // not written yet
			}
			if err != nil {
				return nil, err
			}
			f.Inflight = true
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	return blob.NewJudge(j.some()).Judge(ctx, candidates, each(files))
}

// lost reports whether a write may have come and gone, or one that was in
// flight has gone, since the last look.
func (j *judged) lost(now *timeline.Timeline) bool {
	start := now.Start()
	if j.last != "" && start > j.last || len(j.seen) > 0 && start == "" {
		return true // all that was there is archived, so a later write may be too, or an upgrade has moved the timeline
	}
	have := writesOf(now)
	for key, state := range j.seen {
		if _, ok := have[key]; !ok && state != timeline.Completed {
			return true
		}
	}
	return false
}

// written returns the files that a completed write names.
//
// Errors: errLost if one of them isn't there, or the commit is empty.
func (j *judged) written(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) ([]blob.File, error) {
	data, err := tl.Read(ctx, i, timeline.Completed)
	if err != nil {
		return nil, err
	}
	m, err := timeline.DecodeCommit(data)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errLost // being written
	}
	var files []blob.File
	add := func(name string) error {
		f, err := j.table.file(ctx, name, i.Time)
		if errors.Is(err, fs.ErrNotExist) {
			return errLost
		}
		files = append(files, f)
		return err
	}
	for _, stats := range m.Stats {
		for _, s := range stats {
			if s.Path == "" {
				continue
			}
			if err := add(s.Path); err != nil {
				return nil, err
			}
			for cdc := range s.CDC {
				if err := add(cdc); err != nil {
					return nil, err
				}
			}
		}
	}
	return files, nil
}

// file describes a base or log file that a write names.
//
// Errors: fs.ErrNotExist; Unsupported for another name.
func (t *Table) file(ctx context.Context, name, write string) (blob.File, error) {
	key := lake.Key(name)
	f, ok := datafile.Parse(path.Base(name))
	if !ok {
		return blob.File{}, &lake.Error{Op: "read write", Table: t.Root.String(), Key: key, Kind: lake.Unsupported, Err: fmt.Errorf("the write %s names what is no base or log file", write), Hint: "Run again when no write runs."}
	}
	return t.fileAt(ctx, f, key, write)
}

// fileAt describes a file as it is on storage now.
func (t *Table) fileAt(ctx context.Context, f datafile.File, key lake.Key, slice string) (blob.File, error) {
	info, err := t.Reader.Stat(ctx, string(key))
	return blob.File{File: f, Partition: string(key.Dir()), Key: key, Size: info.Size, Modified: info.Modified, ETag: info.ETag, Link: info.Kind == store.Symlink, Slice: slice}, err
}
