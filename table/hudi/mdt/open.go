package mdt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Dir is the metadata table's folder below the data table's root.
const Dir = ".hoodie/metadata"

// FilesPartition is the partition that lists files.
const FilesPartition = "files"

// Data is what the metadata table must know of the data table.
type Data struct {
	Properties timeline.Properties
	Timeline   *timeline.Timeline
}

// Partitions returns the metadata partitions that can be used, by the data
// table's properties.
func Partitions(p timeline.Properties) []string {
	return commaList(p["hoodie.table.metadata.partitions"])
}

// Building returns the metadata partitions that a writer is building.
func Building(p timeline.Properties) []string {
	return commaList(p["hoodie.table.metadata.partitions.inflight"])
}

func commaList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Available reports whether the data table's properties list the partition
// "files": otherwise there is no metadata table, whatever is on disk.
func Available(p timeline.Properties) bool { return slices.Contains(Partitions(p), FilesPartition) }

// Table is a metadata table. Safe for concurrent use.
type Table struct {
	reader   store.Reader // of the data table
	data     Data
	Timeline *timeline.Timeline
	version  string
	counts   func(instant string) bool
}

// Open reads the metadata table's properties and timeline.
//
// Errors: Damaged, Unsupported.
func Open(ctx context.Context, r store.Reader, data Data) (*Table, error) {
	p, err := timeline.ReadProperties(ctx, r, Dir+"/.hoodie")
	if err != nil {
		if lake.KindOf(err) == lake.NotTable {
			err = unfit("the properties list its partition files, but there is no %s/.hoodie/hoodie.properties", Dir)
		}
		return nil, err
	}
	t := &Table{reader: r, data: data, version: p["hoodie.table.version"]}
	if want := data.Properties["hoodie.table.version"]; t.version != want {
		return nil, unfit("its table version is %s, the data table's %s", t.version, want)
	}
	dir := Dir + "/.hoodie"
	if data.Timeline.Layout == timeline.Layout2 {
		path := p["hoodie.timeline.path"]
		if path == "" {
			path = "timeline"
		}
		dir += "/" + path
	}
	if t.Timeline, err = timeline.Load(ctx, r, dir, data.Timeline.Layout); err != nil {
		return nil, err
	}
	t.counts, err = t.validity(ctx)
	return t, err
}

func unfit(format string, args ...any) error {
	return &lake.Error{Op: "read metadata table", Kind: lake.Refused, Code: "metadata_table_unfit", Err: fmt.Errorf(format, args...),
		Hint: "Let a Hudi writer repair the metadata table, or disable it there with hoodie.metadata.enable=false, then run again."}
}

// Trust reports why the listing can't be believed, or nil: a partition under
// construction, a rollback or restore that isn't finished, or a completed
// write of the data table that it doesn't know.
//
// Source: spec/hudi-metadata-table.md section 4.3.
func (t *Table) Trust() error {
	if slices.Contains(Building(t.data.Properties), FilesPartition) {
		return unfit("its partition files is being built")
	}
	compacted := ""
	for _, i := range t.Timeline.Instants {
		switch {
		case i.State != timeline.Completed && (i.Action == timeline.Rollback || i.Action == timeline.Restore):
			return unfit("its %s %s is pending", i.Action, i.Time)
		case i.State == timeline.Completed && i.Action == timeline.Commit:
			compacted = max(compacted, base(i.Time))
		}
	}
	start := t.data.Timeline.Start()
	for _, i := range t.data.Timeline.Writes() {
		if i.Time < start || max(i.Time, i.Completion) <= compacted {
			continue // archived, or in the base file
		}
		m, ok := t.Timeline.Find(i.Time, timeline.DeltaCommit)
		if !(ok && m.State == timeline.Completed) && !t.initiallyKnown(i) {
			return unfit("it lacks the completed %s %s", i.Action, i.Time)
		}
	}
	return nil
}

// initiallyKnown reports whether a write lies before the first delta commit
// that a writer made: it is archived, or the partition "files" was made of a
// listing later. A clean that was pending then commits at its own, earlier time.
// "files" is made first; indexes that come later list nothing.
func (t *Table) initiallyKnown(write timeline.Instant) bool {
	var made timeline.Instant
	first, before := "", t.Timeline.Layout == timeline.Layout1
	for _, i := range t.Timeline.Instants {
		switch {
		case i.Action.Comparable() != timeline.DeltaCommit:
		case initial(i.Time) || before && len(i.Time) == 20 && strings.HasPrefix(i.Time[17:], "01"): // at the latest write that was listed
			if made.Time == "" || i.Time < made.Time {
				made = i
			}
		case first == "":
			first = i.Time
		}
	}
	switch {
	case write.Time < first:
		return true
	case before:
		return write.Time <= base(made.Time)
	}
	return made.Time == filesMade && write.Completion != "" && write.Completion < made.Completion
}

// filesMade is the instant at which versions 8 and 9 make the partition "files".
const filesMade = "00000000000000000"

// initial reports an instant of the metadata table's own making.
func initial(time string) bool { return strings.HasPrefix(time, "00000000000000") }

// base cuts the three digits off that version 6 appends for the metadata
// table's own services.
func base(time string) string {
	if len(time) == 20 {
		return time[:17]
	}
	return time
}

// validity returns which instants' blocks count.
//
// Source: spec/hudi-metadata-table.md section 1.2, number 6.
func (t *Table) validity(ctx context.Context) (func(string) bool, error) {
	valid, pending := make(map[string]bool), make(map[string]bool)
	for _, i := range t.data.Timeline.Instants {
		if i.State == timeline.Completed {
			valid[i.Time] = true
		} else {
			pending[i.Time] = true
		}
	}
	compacted := ""
	for _, i := range t.Timeline.Instants {
		if i.State != timeline.Completed {
			continue
		}
		switch i.Action.Comparable() {
		case timeline.Commit:
			compacted = max(compacted, i.Time)
		case timeline.DeltaCommit:
			valid[i.Time] = valid[i.Time] || !pending[i.Time]
		case timeline.Rollback, timeline.Restore:
			valid[i.Time] = true
		}
	}
	for _, i := range t.data.Timeline.Instants {
		if i.State != timeline.Completed || i.Action != timeline.Rollback && i.Action != timeline.Restore || i.Time <= compacted {
			continue
		}
		back, err := t.data.Timeline.RolledBack(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, b := range back {
			valid[b] = true
		}
	}
	return func(instant string) bool { return valid[instant] || initial(instant) }, nil
}

var errNoRecord = errors.New("no record of all partitions")
