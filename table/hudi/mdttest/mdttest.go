// Package mdttest lays out the metadata tables of Hudi tables, and reads them
// slowly, for tests and benchmarks: of their partitions "files" alone.
package mdttest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Files is a listing: partition, "" of an unpartitioned table, → name → bytes.
type Files map[string]map[string]int64

// Add adds one file.
func (f Files) Add(partition, name string, size int64) {
	if f[partition] == nil {
		f[partition] = make(map[string]int64)
	}
	f[partition][name] = size
}

func (f Files) clone() Files {
	out := make(Files, len(f))
	for partition, names := range f {
		out[partition] = maps.Clone(names)
	}
	return out
}

func (f Files) apply(c Change) {
	for partition, names := range c.Gone {
		for name := range names {
			delete(f[partition], name)
		}
	}
	for _, partition := range c.Dead {
		delete(f, partition)
	}
	for partition, names := range c.Added {
		for name, size := range names {
			f.Add(partition, name, size)
		}
	}
}

// Table is the metadata table of one data table. Not safe for concurrent use.
type Table struct {
	Name    string // of the data table
	Version int    // of the data table: 6, 8 or 9
	Put     func(name string, data []byte) error
	Disk    Disk        // nil where nobody else writes to it, and nothing is taken back
	Known   string      // the data table's latest write when this is made; "" for none
	Codec   hfile.Codec // 0: GZIP, as Hudi's

	begun   Files    // what the newest base file lists
	deltas  []delta  // complete delta commits on top of it, oldest first
	below   []string // instants of those that are in it
	base    string   // instant of the newest slice
	logs    int      // log files of it
	last    string   // instant of the latest delta commit
	first   string   // of its making
	schema  *avro.Schema
	pending *pendingCompaction
}

// Change is what a delta commit says: files that came and that went, and
// partitions of which nothing is left.
type Change struct {
	Added, Gone Files
	Dead        []string
}

type delta struct {
	at     string
	change Change
}

// The record's schema as Hudi 1.2.0 has it, up to the field that "files" uses
// (Apache Hudi, HoodieMetadata.avsc).
const schema = `{"type":"record","name":"HoodieMetadataRecord","namespace":"org.apache.hudi.avro.model","fields":[
{"name":"key","type":{"type":"string","avro.java.string":"String"}},
{"name":"type","type":"int"},
{"name":"filesystemMetadata","type":["null",{"type":"map","values":{"type":"record","name":"HoodieMetadataFileInfo","fields":[
 {"name":"size","type":"long"},{"name":"isDeleted","type":"boolean"}]},"avro.java.string":"String"}]}]}`

const (
	dir   = ".hoodie/metadata/"
	group = "files-0000-0"
	token = "0-0-0"

	allPartitions = "__all_partitions__"
)

func (t *Table) layout() timeline.Layout {
	if t.Version < 8 {
		return timeline.Layout1
	}
	return timeline.Layout2
}

// Make lays out the metadata table of a listing, complete at an instant.
//
// Source: spec/hudi-metadata-table.md section 1.
func (t *Table) Make(files Files, completion string) error {
	t.begun, t.deltas, t.below, t.pending = files.clone(), nil, nil, nil
	first := strings.Repeat("0", 17)
	layout := "hoodie.timeline.layout.version=2\nhoodie.timeline.path=timeline\nhoodie.timeline.history.path=history\n"
	if t.layout() == timeline.Layout1 {
		first, layout = cmp.Or(t.Known, strings.Repeat("0", 14))+"010", "hoodie.timeline.layout.version=1\n"
	}
	name := t.Name + "_metadata"
	properties := fmt.Sprintf("hoodie.table.name=%s\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=%d\nhoodie.table.initial.version=%d\n%s"+
		"hoodie.table.base.file.format=HFILE\nhoodie.table.recordkey.fields=key\nhoodie.populate.meta.fields=false\n"+
		"hoodie.compaction.payload.class=org.apache.hudi.metadata.HoodieMetadataPayload\nhoodie.record.merge.mode=CUSTOM\n"+
		"hoodie.record.merge.strategy.id=00000000-0000-0000-0000-000000000000\nhoodie.table.keygenerator.type=HOODIE_TABLE_METADATA\nhoodie.table.checksum=%d\n",
		name, t.Version, t.Version, layout, timeline.Checksum("", name))
	empty := logblock.Append(nil, logblock.Delete, map[logblock.Header]string{logblock.InstantTime: first}, []byte{0, 0, 0, 3, 0, 0, 0, 1, 0})
	for name, data := range map[string][]byte{
		".hoodie/hoodie.properties":        []byte(properties),
		"files/.hoodie_partition_metadata": []byte("commitTime=" + first + "\npartitionDepth=1\n"),
		"files/" + logName(first, 1):       empty,
	} {
		if err := t.Put(dir+name, data); err != nil {
			return err
		}
	}
	if err := t.writeBase(first); err != nil {
		return err
	}
	t.first, t.last, t.logs, t.below = first, first, 1, []string{first}
	return t.instant(first, timeline.DeltaCommit, completion)
}

func logName(instant string, version int) string {
	return fmt.Sprintf(".%s_%s.log.%d_%s", group, instant, version, token)
}

// Commit adds a delta commit at the instant of a write of the data table.
func (t *Table) Commit(at, completion string, added Files) error {
	return t.Write(at, completion, Change{Added: added})
}

// Write adds a delta commit at the instant of an action of the data table.
func (t *Table) Write(at, completion string, c Change) error {
	if err := t.writeLog(at, c); err != nil {
		return err
	}
	t.note(at, c)
	return t.instant(at, timeline.DeltaCommit, completion)
}

func (t *Table) note(at string, c Change) {
	t.deltas = append(t.deltas, delta{at, c})
	t.last = max(t.last, at)
}

// Cleaned notes the delta commit that a clean of the data table made: the files
// that it took off the list, and partitions of which nothing is left.
func (t *Table) Cleaned(at string, gone Files, partitions []string) {
	t.logs++
	t.note(at, Change{Gone: gone, Dead: partitions})
}

// Listing is what the table lists.
func (t *Table) Listing() Files {
	all := t.begun.clone()
	for _, d := range t.deltas {
		all.apply(d.change)
	}
	return all
}

func (t *Table) writeLog(at string, c Change) error {
	body, err := t.content(c)
	if err != nil {
		return err
	}
	headers := map[logblock.Header]string{logblock.InstantTime: at, logblock.Schema: schema}
	data := logblock.Append(nil, logblock.HFileData, headers, body)
	if len(c.Dead) > 0 {
		deletions, err := logblock.NewDeletions()
		if err != nil {
			return err
		}
		var keys []logblock.DeletedKey
		for _, p := range c.Dead {
			keys = append(keys, logblock.DeletedKey{RecordKey: keyOf(p), PartitionPath: "files"})
		}
		if body, err = deletions.Encode(keys); err != nil {
			return err
		}
		data = logblock.Append(data, logblock.Delete, headers, body)
	}
	return t.putLog(at, data)
}

func (t *Table) putLog(at string, data []byte) error {
	t.logs++
	name := logName(at, 1)
	if t.layout() == timeline.Layout1 {
		version, err := t.version()
		if err != nil {
			return err
		}
		name = logName(t.base, version)
	}
	return t.Put(dir+"files/"+name, data)
}

// Compact writes a new base file. at is the compaction's instant; in version 6
// it is made of the latest delta commit's instead.
func (t *Table) Compact(at, completion string) error {
	at = t.compaction(at)
	if err := t.fold(at, t.Listing(), len(t.deltas)); err != nil {
		return err
	}
	t.base, t.logs = at, 0
	return t.instant(at, timeline.Compaction, completion)
}

func (t *Table) compaction(at string) string {
	if t.layout() == timeline.Layout1 {
		return t.last + "001"
	}
	return at
}

// fold writes a base file that has the first n delta commits.
func (t *Table) fold(at string, files Files, n int) error {
	for _, d := range t.deltas[:n] {
		t.below = append(t.below, d.at)
	}
	t.begun, t.deltas = files, t.deltas[n:]
	return t.writeBase(at)
}

func (t *Table) writeBase(at string) error {
	data, err := t.content(Change{Added: t.begun})
	if err != nil {
		return err
	}
	if t.pending == nil {
		t.base = at
	}
	return t.Put(fmt.Sprintf("%sfiles/%s_%s_%s.hfile", dir, group, token, at), data)
}

// instant writes the three files of an instant.
func (t *Table) instant(at string, a timeline.Action, completion string) error {
	done, err := timeline.LogCommit{Extra: map[string]string{"schema": schema}, Operation: "UPSERT_PREPPED"}.Encode(t.layout())
	if err != nil {
		return err
	}
	for s, data := range [][]byte{timeline.Requested: nil, timeline.Inflight: nil, timeline.Completed: done} {
		if err := t.state(at, a, timeline.State(s), completion, data); err != nil {
			return err
		}
	}
	return nil
}

// state writes one file of an instant.
func (t *Table) state(at string, a timeline.Action, s timeline.State, completion string, data []byte) error {
	return t.Put(t.timeline()+timeline.Name(t.layout(), at, a, s, completion), data)
}

func (t *Table) timeline() string {
	if t.layout() == timeline.Layout2 {
		return dir + ".hoodie/timeline/"
	}
	return dir + ".hoodie/"
}

func keyOf(partition string) string {
	if partition == "" {
		return "."
	}
	return partition
}

type info struct {
	Size    int64 `avro:"size"`
	Deleted bool  `avro:"isDeleted"`
}

// content is an HFile of the records of a change. A whole listing has every
// partition in its record of all partitions.
func (t *Table) content(c Change) (data []byte, err error) {
	if t.schema == nil {
		if t.schema, err = avro.Parse(schema); err != nil {
			return nil, err
		}
	}
	entries, all := make(map[string]map[string]info), make(map[string]info)
	add := func(partition string, names map[string]int64, deleted bool) {
		key := keyOf(partition)
		if entries[key] == nil {
			entries[key] = make(map[string]info, len(names))
		}
		for name, size := range names {
			entries[key][name] = info{size, deleted}
		}
	}
	for partition, names := range c.Gone {
		if !slices.Contains(c.Dead, partition) {
			add(partition, names, true)
		}
	}
	for partition, names := range c.Added {
		add(partition, names, false)
		all[keyOf(partition)] = info{}
	}
	for _, partition := range c.Dead {
		all[keyOf(partition)] = info{Deleted: true}
	}
	records := make(map[string][]byte, len(entries)+1)
	for key, names := range entries {
		if records[key], err = record(t.schema, 2, names); err != nil {
			return nil, err
		}
	}
	if records[allPartitions], err = record(t.schema, 1, all); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := hfile.NewWriter(&out, hfile.Options{Codec: t.Codec, Info: map[string][]byte{"schema": []byte(schema)}, Created: time.Unix(0, 0)})
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if err := w.Append(key, records[key]); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// record encodes one record. Its key stands in the HFile.
func record(s *avro.Schema, typ int32, files map[string]info) ([]byte, error) {
	return s.Encode(&entry{Type: typ, Files: files})
}

type entry struct {
	Key   string          `avro:"key"`
	Type  int32           `avro:"type"`
	Files map[string]info `avro:"filesystemMetadata"`
}
