package blobtest

import (
	"encoding/json"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Table writes a small table without a metadata table, an instant an hour.
type Table struct {
	T       testing.TB
	Put     func(name string, data []byte, at time.Time)
	Now     time.Time
	Schema  string // in commit metadata; "" for none
	layout  timeline.Layout
	written map[string][]timeline.WriteStat
}

// NewTable begins a table of version 9. typ is COPY_ON_WRITE or MERGE_ON_READ.
func NewTable(t testing.TB, typ string, put func(name string, data []byte, at time.Time)) *Table {
	return NewTableOf(t, "9", typ, put)
}

// NewTableOf begins a table of version 6, 8 or 9.
func NewTableOf(t testing.TB, version, typ string, put func(name string, data []byte, at time.Time)) *Table {
	w := &Table{T: t, Put: put, Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Schema: Schema, layout: timeline.Layout2, written: map[string][]timeline.WriteStat{}}
	if version == "6" {
		w.layout = timeline.Layout1
	}
	put(".hoodie/hoodie.properties", fmt.Appendf(nil, "hoodie.table.name=small\nhoodie.table.type=%s\nhoodie.table.version=%s\nhoodie.timeline.layout.version=%d\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\n", typ, version, w.layout), w.Now)
	return w
}

// Begin starts a write and returns its instant.
func (w *Table) Begin(a timeline.Action) string {
	w.T.Helper()
	w.Now = w.Now.Add(time.Hour)
	at := timeline.FormatTime(w.Now, time.UTC)
	w.file(at, a, timeline.Requested, "", nil)
	w.file(at, a, timeline.Inflight, "", nil)
	w.written = map[string][]timeline.WriteStat{}
	return at
}

func (w *Table) file(at string, a timeline.Action, s timeline.State, completion string, data []byte) {
	dir := ".hoodie/timeline/"
	if w.layout == timeline.Layout1 {
		dir = ".hoodie/"
	}
	w.Put(dir+timeline.Name(w.layout, at, a, s, completion), data, w.Now)
}

// Base writes a base file of a group and returns its path.
func (w *Table) Base(at, partition, group string, refs ...Ref) string {
	return w.add(partition, group, fmt.Sprintf("%s-0_0-1-2_%s.parquet", group, at), Base(w.T, true, refs...))
}

// Log writes a log file of a group and returns its path.
func (w *Table) Log(at, partition, group string, refs ...Ref) string {
	return w.add(partition, group, fmt.Sprintf(".%s-0_%s.log.1_0-1-2", group, at), Log(w.T, nil, at, refs...))
}

func (w *Table) add(partition, group, name string, data []byte) string {
	w.Put(partition+"/.hoodie_partition_metadata", []byte("commitTime=1\npartitionDepth=1\n"), w.Now)
	key := path.Join(partition, name)
	w.Put(key, data, w.Now)
	w.written[partition] = append(w.written[partition], timeline.WriteStat{FileID: group + "-0", Path: key, PrevCommit: "x"})
	return key
}

// Complete ends the write of an instant. replaced names groups, by partition,
// that a replace commit replaces.
func (w *Table) Complete(at string, a timeline.Action, replaced map[string][]string) {
	w.T.Helper()
	w.Now = w.Now.Add(time.Minute)
	for partition, groups := range replaced {
		for i := range groups {
			replaced[partition][i] = groups[i] + "-0"
		}
	}
	data, err := json.Marshal(timeline.CommitMetadata{Stats: w.written, Operation: "UPSERT", Replaced: replaced, Extra: map[string]string{"schema": w.Schema}})
	if err != nil {
		w.T.Fatal(err)
	}
	w.file(at, a, timeline.Completed, timeline.FormatTime(w.Now, time.UTC), data)
}

// Commit is a whole commit of base files: of each group, "p=1/a", its records.
func (w *Table) Commit(groups map[string][]Ref) string {
	w.T.Helper()
	at := w.Begin(timeline.Commit)
	for g, refs := range groups {
		w.Base(at, path.Dir(g), path.Base(g), refs...)
	}
	w.Complete(at, timeline.Commit, nil)
	return at
}

// Delta is a whole delta commit of log files.
func (w *Table) Delta(groups map[string][]Ref) string {
	w.T.Helper()
	at := w.Begin(timeline.DeltaCommit)
	for g, refs := range groups {
		w.Log(at, path.Dir(g), path.Base(g), refs...)
	}
	w.Complete(at, timeline.DeltaCommit, nil)
	return at
}
