// Package mdttest lays out the metadata tables of Hudi tables, for tests and
// benchmarks: of their partitions "files" alone.
package mdttest

import (
	"bytes"
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

// Table is the metadata table of one data table. Not safe for concurrent use.
type Table struct {
	Name    string // of the data table
	Version int    // of the data table: 6, 8 or 9
	Put     func(name string, data []byte) error

	all  Files  // what it lists
	base string // instant of the newest base file
	logs int    // log files on top of it
	last string // instant of the latest delta commit
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
	t.all = Files{}
	for partition, names := range files {
		t.all[partition] = maps.Clone(names)
	}
	first := strings.Repeat("0", 17)
	layout := "hoodie.timeline.layout.version=2\nhoodie.timeline.path=timeline\nhoodie.timeline.history.path=history\n"
	if t.layout() == timeline.Layout1 {
		first, layout = strings.Repeat("0", 14)+"010", "hoodie.timeline.layout.version=1\n"
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
	t.last, t.logs = first, 1
	return t.instant(first, timeline.DeltaCommit, completion)
}

func logName(instant string, version int) string {
	return fmt.Sprintf(".%s_%s.log.%d_%s", group, instant, version, token)
}

// Commit adds a delta commit at the instant of a write of the data table.
func (t *Table) Commit(at, completion string, added Files) error {
	fresh := Files{}
	for partition, names := range added {
		fresh[partition] = names
		for name, size := range names {
			t.all.Add(partition, name, size)
		}
	}
	body, err := content(fresh)
	if err != nil {
		return err
	}
	t.logs++
	name := logName(at, 1)
	if t.layout() == timeline.Layout1 {
		name = logName(t.base, t.logs)
	}
	block := logblock.Append(nil, logblock.HFileData, map[logblock.Header]string{logblock.InstantTime: at, logblock.Schema: schema}, body)
	if err := t.Put(dir+"files/"+name, block); err != nil {
		return err
	}
	t.last = at
	return t.instant(at, timeline.DeltaCommit, completion)
}

// Compact writes a new base file. at is the compaction's instant; in version 6
// it is made of the latest delta commit's instead.
func (t *Table) Compact(at, completion string) error {
	if t.layout() == timeline.Layout1 {
		at = t.last + "001"
	}
	if err := t.writeBase(at); err != nil {
		return err
	}
	t.logs = 0
	return t.instant(at, timeline.Compaction, completion)
}

// Cleaned notes the delta commit that a clean of the data table made: the files
// that it took off the list, and partitions of which nothing is left.
func (t *Table) Cleaned(at string, gone Files, partitions []string) {
	for partition, names := range gone {
		for name := range names {
			delete(t.all[partition], name)
		}
	}
	for _, p := range partitions {
		delete(t.all, p)
	}
	t.last = at
	t.logs++
}

func (t *Table) writeBase(at string) error {
	data, err := content(t.all)
	if err != nil {
		return err
	}
	t.base = at
	return t.Put(fmt.Sprintf("%sfiles/%s_%s_%s.hfile", dir, group, token, at), data)
}

// instant writes the three files of an instant.
func (t *Table) instant(at string, a timeline.Action, completion string) error {
	done, err := timeline.LogCommit{Extra: map[string]string{"schema": schema}, Operation: "UPSERT_PREPPED"}.Encode(t.layout())
	if err != nil {
		return err
	}
	where := dir + ".hoodie/"
	if t.layout() == timeline.Layout2 {
		where += "timeline/"
	}
	for s, data := range [][]byte{timeline.Requested: nil, timeline.Inflight: nil, timeline.Completed: done} {
		if err := t.Put(where+timeline.Name(t.layout(), at, a, timeline.State(s), completion), data); err != nil {
			return err
		}
	}
	return nil
}

// content is an HFile of the records of files. A whole listing has every
// partition in its record of all partitions.
func content(files Files) ([]byte, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return nil, err
	}
	records, all := make(map[string][]byte, len(files)+1), make(map[string]int64, len(files))
	for partition, names := range files {
		key := partition
		if key == "" {
			key = "."
		}
		all[key] = 0
		if records[key], err = record(s, 2, names); err != nil {
			return nil, err
		}
	}
	if records["__all_partitions__"], err = record(s, 1, all); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := hfile.NewWriter(&out, hfile.Options{Info: map[string][]byte{"schema": []byte(schema)}, Created: time.Unix(0, 0)})
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if err := w.Append(key, records[key]); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// record encodes one record. Its key stands in the HFile.
func record(s *avro.Schema, typ int32, names map[string]int64) ([]byte, error) {
	type info struct {
		Size    int64 `avro:"size"`
		Deleted bool  `avro:"isDeleted"`
	}
	files := make(map[string]info, len(names))
	for name, size := range names {
		files[name] = info{Size: size}
	}
	return s.Encode(&struct {
		Key   string          `avro:"key"`
		Type  int32           `avro:"type"`
		Files map[string]info `avro:"filesystemMetadata"`
	}{Type: typ, Files: files})
}
