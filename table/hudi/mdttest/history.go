package mdttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Disk is where a metadata table lies that others write to as well. Names are
// relative to the data table.
type Disk interface {
	Remove(name string) error
	List(dir string) ([]string, error) // names of files in a folder
}

// pendingCompaction will have the first n delta commits.
type pendingCompaction struct {
	at    string
	n     int
	files Files
}

// version is the next free log version of the newest slice.
func (t *Table) version() (int, error) {
	if t.Disk == nil {
		return t.logs, nil
	}
	names, err := t.Disk.List(dir + "files")
	version := 1
	for _, name := range names {
		if f, ok := datafile.Parse(name); ok && f.Log && f.Instant == t.base {
			version = max(version, f.Version+1)
		}
	}
	return version, err
}

// Abandon leaves a delta commit as a writer does that dies: requested, inflight
// with its log file, or complete, while the action of the data table isn't.
func (t *Table) Abandon(at, completion string, c Change, s timeline.State) error {
	if s >= timeline.Inflight {
		if err := t.writeLog(at, c); err != nil {
			return err
		}
	}
	for i := timeline.Requested; i <= s; i++ {
		if err := t.state(at, timeline.DeltaCommit, i, completion, nil); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether a delta commit, in any state, is on the timeline.
func (t *Table) Has(at string) (bool, error) {
	names, err := t.instants(at)
	return len(names) > 0, err
}

func (t *Table) instants(at string) (names []string, err error) {
	all, err := t.Disk.List(strings.TrimSuffix(t.timeline(), "/"))
	for _, name := range all {
		if i, ok := timeline.ParseName(t.layout(), name); ok && i.Time == at && i.Action == timeline.DeltaCommit {
			names = append(names, name)
		}
	}
	return names, err
}

// Rollback takes back a delta commit at an instant of the metadata table's own:
// its log file goes, or, in version 6, a block says that it doesn't count.
func (t *Table) Rollback(target, at, completion string) error {
	names, err := t.instants(target)
	if err != nil {
		return err
	}
	if t.layout() == timeline.Layout1 {
		at += "006"
		block := logblock.Append(nil, logblock.Command, map[logblock.Header]string{logblock.InstantTime: at, logblock.TargetInstantTime: target, logblock.CommandType: "0"}, nil)
		if err := t.putLog(at, block); err != nil {
			return err
		}
	} else if err := t.remove("files", func(f datafile.File) bool { return f.Log && f.Instant == target }); err != nil {
		return err
	}
	for _, name := range names {
		if err := t.Disk.Remove(t.timeline() + name); err != nil {
			return err
		}
	}
	t.deltas = slices.DeleteFunc(t.deltas, func(d delta) bool { return d.at == target })
	return t.instant(at, timeline.Rollback, completion)
}

// remove removes files of a metadata partition.
func (t *Table) remove(partition string, match func(datafile.File) bool) error {
	names, err := t.Disk.List(dir + partition)
	if err != nil {
		return err
	}
	for _, name := range names {
		if f, ok := datafile.Parse(name); ok && match(f) {
			if err := t.Disk.Remove(dir + partition + "/" + name); err != nil {
				return err
			}
		}
	}
	return nil
}

// After lists the instants of delta commits after one of the data table, latest
// first. ok is false if the newest base file, or one that is planned, is later.
func (t *Table) After(at string) (later []string, ok bool) {
	for _, d := range slices.Backward(t.deltas) {
		if d.at > at {
			later = append(later, d.at)
		}
	}
	return later, t.base <= at && t.pending == nil
}

// Fresh reports whether no delta commit lies on the newest base file.
func (t *Table) Fresh() bool { return len(t.deltas) == 0 }

// Schedule plans a compaction, by an Avro plan that names the file group.
// Delta commits until Perform are no part of it.
func (t *Table) Schedule(at string, plan []byte) error {
	at = t.compaction(at)
	t.pending = &pendingCompaction{at, len(t.deltas), t.Listing()}
	t.base, t.logs = at, 0
	for s, data := range [][]byte{timeline.Requested: plan, timeline.Inflight: nil} {
		if err := t.state(at, timeline.Compaction, timeline.State(s), "", data); err != nil {
			return err
		}
	}
	return nil
}

// Pending reports whether a compaction is planned.
func (t *Table) Pending() bool { return t.pending != nil }

// Perform carries out the planned compaction.
func (t *Table) Perform(completion string) error {
	p := t.pending
	if err := t.fold(p.at, p.files, p.n); err != nil {
		return err
	}
	t.pending = nil
	return t.state(p.at, timeline.Compaction, timeline.Completed, completion, nil)
}

// Compacted is the instant of the newest base file, "" of a table that was
// never compacted.
func (t *Table) Compacted() string {
	if t.pending != nil || t.base == t.first {
		return ""
	}
	return t.base
}

// Trim removes what lies below the newest base file, as the metadata table's
// own cleaner and archiver do.
func (t *Table) Trim() error {
	at := t.Compacted()
	if at == "" {
		return nil
	}
	if err := t.remove("files", func(f datafile.File) bool {
		return f.Instant < at && (!f.Log || t.layout() == timeline.Layout1 || slices.Contains(t.below, f.Instant))
	}); err != nil {
		return err
	}
	for _, old := range t.below {
		names, err := t.instants(old)
		for _, name := range names {
			if err == nil {
				err = t.Disk.Remove(t.timeline() + name)
			}
		}
		if err != nil {
			return err
		}
	}
	t.below = nil
	return nil
}

// Slice names the file group as a compaction's plan does.
func (t *Table) Slice() timeline.Slice {
	return timeline.Slice{Partition: "files", FileID: group, BaseInstant: t.base, Files: []string{fmt.Sprintf("%s_%s_%s.hfile", group, token, t.base)}}
}

// Difference is the change that makes one listing of another.
func Difference(from, to Files) Change {
	c := Change{Added: Files{}, Gone: Files{}}
	for partition, names := range to {
		for name, size := range names {
			if _, ok := from[partition][name]; !ok {
				c.Added.Add(partition, name, size)
			}
		}
	}
	for partition, names := range from {
		for name := range maps.Clone(names) {
			if _, ok := to[partition][name]; !ok {
				c.Gone.Add(partition, name, 0)
			}
		}
	}
	return c
}
