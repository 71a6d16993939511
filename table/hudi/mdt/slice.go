package mdt

import (
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// slice is the newest file slice of a file group. With a compaction pending it
// is the slice before and the one after together.
type slice struct {
	base    *entry // nil if there is only a log
	logs    []entry
	instant string // base instant under which version 6 names the next log
}

type entry struct {
	datafile.File
	key  string
	size int64
}

// newest lists a metadata partition and returns the newest slice of each file
// group by its id.
func (t *Table) newest(ctx context.Context, partition string) (map[string]*slice, error) {
	entries, err := t.entries(ctx, partition)
	if err != nil {
		return nil, err
	}
	return t.slices(entries), nil
}

// entries lists the base and log files of a metadata partition.
func (t *Table) entries(ctx context.Context, partition string) (entries []entry, err error) {
	for e, err := range store.Folder(ctx, t.reader, Dir+"/"+partition+"/") {
		if err != nil {
			return nil, err
		}
		f, ok := datafile.Parse(lake.Key(e.Name).Base())
		if !ok || e.Kind != store.File {
			continue
		}
		if t.reader.Traits().NamesFirst {
			if e, err = t.reader.Stat(ctx, e.Name); err != nil {
				return nil, err
			}
		}
		entries = append(entries, entry{f, e.Name, e.Size})
	}
	return entries, nil
}

func (t *Table) slices(entries []entry) map[string]*slice {
	groups := make(map[string]*slice)
	group := func(id string) *slice {
		if groups[id] == nil {
			groups[id] = &slice{}
		}
		return groups[id]
	}
	for _, e := range entries {
		g := group(e.FileID)
		if !e.Log && t.committed(e.Instant) && (g.base == nil || e.Instant > g.base.Instant) {
			g.base = &e
		}
	}
	for _, e := range entries {
		g := group(e.FileID)
		if !e.Log || !t.after(e, g.base) {
			continue
		}
		g.logs = append(g.logs, e)
	}
	for _, g := range groups {
		slices.SortFunc(g.logs, func(a, b entry) int { return datafile.CompareLogs(a.File, b.File) })
		if g.base != nil {
			g.instant = g.base.Instant
		}
		if n := len(g.logs); n > 0 {
			g.instant = max(g.instant, g.logs[n-1].Instant)
		}
	}
	return groups
}

// committed reports whether a base file's instant is complete: on the
// timeline, or archived.
func (t *Table) committed(instant string) bool {
	if initial(instant) || instant < t.Timeline.Start() {
		return true
	}
	for _, i := range t.Timeline.Instants {
		if i.Time == instant && i.State == timeline.Completed {
			return true
		}
	}
	return false
}

// after reports whether a log belongs to the slice of base or a later one. In
// version 6 the log's name says so; later, its completion time does, and the
// logs of a commit in flight belong nowhere.
func (t *Table) after(log entry, base *entry) bool {
	if t.data.Timeline.Layout == timeline.Layout1 {
		return base == nil || log.Instant >= base.Instant
	}
	i, ok := t.Timeline.Find(log.Instant, timeline.DeltaCommit)
	completion := i.Completion
	switch {
	case ok && i.State != timeline.Completed:
		return false
	case !ok && !initial(log.Instant) && log.Instant >= t.Timeline.Start():
		return false
	case !ok:
		completion = log.Instant
	}
	return base == nil || completion >= base.Instant
}
