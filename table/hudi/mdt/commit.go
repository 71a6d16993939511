package mdt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Clean is what a clean of the data table tells the metadata table.
type Clean struct {
	Instant        string
	Files          map[string][]string // by partition: all names that the clean attempted, also those that were gone already
	DeadPartitions []string
}

// Writing is how a commit is written.
type Writing struct {
	Writer store.Writer
	// Completion returns a completion time under the table's lock. Layout 1 doesn't call it.
	Completion func(ctx context.Context) (string, error)
	// Verify is called before each irreversible step: the lock must still be held.
	Verify func(ctx context.Context) error
	Now    time.Time // for the HFile's creation time
}

// Writable reports why a clean can't be recorded in the metadata table, or
// nil. It includes Trust.
//
// Source: spec/hudi-metadata-table.md section 4.3.
func (t *Table) Writable() error {
	if err := t.Trust(); err != nil {
		return err
	}
	for _, i := range t.data.Timeline.Instants {
		if i.Action == timeline.Indexing && i.State != timeline.Completed {
			return unfit("the data table's indexing %s is pending", i.Time)
		}
	}
	return nil
}

// Commit writes a delta commit at the clean's own instant: the entries of
// "files", and the tombstones of column statistics, bloom filters and
// expression indexes. A completed one is left as it is; one that a crash left
// pending is taken back first. It must be called under the table's lock, and
// before the clean completes.
//
// Memory: all names of the clean, some four times, and those of Files.
// Errors: Refused if the metadata table is unfit; Locked from Verify; those of
// the store.
func (t *Table) Commit(ctx context.Context, w Writing, c Clean) error {
	if err := t.Writable(); err != nil {
		return err
	}
	if i, ok := t.Timeline.Find(c.Instant, timeline.DeltaCommit); ok {
		if i.State == timeline.Completed {
			return nil
		}
		if err := t.takeBack(ctx, w, i); err != nil {
			return err
		}
	}
	commit := timeline.LogCommit{Stats: map[string][]timeline.LogStat{}, Extra: map[string]string{}, Operation: "UPSERT_PREPPED"}
	inflight, err := commit.Encode(t.Timeline.Layout)
	if err != nil {
		return err
	}
	logs, err := t.logs(ctx, w, c, &commit)
	if err != nil {
		return err
	}
	if err := t.put(ctx, w, t.name(c.Instant, timeline.Requested, ""), nil); err != nil {
		return err
	}
	if err := t.put(ctx, w, t.name(c.Instant, timeline.Inflight, ""), inflight); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if err := t.put(ctx, w, name, logs[name]); err != nil {
			return err
		}
	}
	done, err := commit.Encode(t.Timeline.Layout)
	if err != nil {
		return err
	}
	completion := ""
	if t.Timeline.Layout == timeline.Layout2 {
		if completion, err = w.Completion(ctx); err != nil {
			return err
		}
	}
	return t.put(ctx, w, t.name(c.Instant, timeline.Completed, completion), done)
}

func (t *Table) name(instant string, s timeline.State, completion string) string {
	return t.Timeline.Dir + "/" + timeline.Name(t.Timeline.Layout, instant, timeline.DeltaCommit, s, completion)
}

// put creates an object under the lock. One that is there already is another
// process's: nobody else may write at this instant.
func (t *Table) put(ctx context.Context, w Writing, name string, data []byte) error {
	if err := w.Verify(ctx); err != nil {
		return err
	}
	err := w.Writer.PutIfAbsent(ctx, name, data)
	if errors.Is(err, fs.ErrExist) {
		return &lake.Error{Op: "write metadata table", Key: lake.Key(name), Kind: lake.Locked, Err: err,
			Hint: "Somebody else works on this clean. Run again when it is done."}
	}
	return err
}

// logs encodes a log file for each file group that the clean touches, and adds
// its statistics to commit.
func (t *Table) logs(ctx context.Context, w Writing, c Clean, commit *timeline.LogCommit) (map[string][]byte, error) {
	groups, err := t.newest(ctx, FilesPartition)
	if err != nil {
		return nil, err
	}
	schema, err := t.writeSchema(ctx, groups)
	if err != nil {
		return nil, err
	}
	commit.Extra["schema"] = schema
	out := make(map[string][]byte)
	ids := shards(groups)
	if len(ids) != 1 {
		return nil, damaged("%d file groups in partition files", len(ids))
	}
	once, err := t.deletedOnce(ctx, c)
	if err != nil {
		return nil, err
	}
	data, n, err := filesLog(schema, once, w.Now)
	if err != nil {
		return nil, err
	}
	if err := t.pendingSlices(ctx, FilesPartition, groups); err != nil {
		return nil, err
	}
	t.addLog(out, commit, FilesPartition, ids[0], groups[ids[0]], c.Instant, data, n, len(c.DeadPartitions))
	voids, err := t.tombstones(ctx, c)
	if err != nil {
		return nil, err
	}
	deletions, err := logblock.NewDeletions()
	if err != nil {
		return nil, err
	}
	for _, part := range slices.Sorted(maps.Keys(voids)) {
		groups, err := t.newest(ctx, part)
		if err == nil {
			err = t.pendingSlices(ctx, part, groups)
		}
		if err != nil {
			return nil, err
		}
		ids := shards(groups)
		if len(ids) == 0 {
			continue // listed, but never made
		}
		byShard := make([][]logblock.DeletedKey, len(ids))
		for _, key := range voids[part] {
			s := shard(key, len(ids))
			byShard[s] = append(byShard[s], logblock.DeletedKey{RecordKey: key, PartitionPath: part})
		}
		for s, keys := range byShard {
			if len(keys) == 0 {
				continue
			}
			content, err := deletions.Encode(keys)
			if err != nil {
				return nil, err
			}
			block := logblock.Append(nil, logblock.Delete, map[logblock.Header]string{logblock.InstantTime: c.Instant, logblock.Schema: schema}, content)
			t.addLog(out, commit, part, ids[s], groups[ids[s]], c.Instant, block, 0, len(keys))
		}
	}
	return out, nil
}

const writeToken = "0-0-0"

func (t *Table) addLog(out map[string][]byte, commit *timeline.LogCommit, partition, id string, s *slice, instant string, data []byte, writes, deletes int) {
	at, version, prev := instant, 1, instant
	if t.Timeline.Layout == timeline.Layout1 {
		at, version = s.instant, s.nextVersion()
		prev = at
	}
	name := fmt.Sprintf(".%s_%s.log.%d_%s", id, at, version, writeToken)
	out[Dir+"/"+partition+"/"+name] = data
	commit.Stats[partition] = append(commit.Stats[partition], timeline.LogStat{
		FileID: id, Path: partition + "/" + name, PrevCommit: prev, NumWrites: int64(writes), NumUpdateWrites: int64(writes), NumDeletes: int64(deletes),
		WriteBytes: int64(len(data)), PartitionPath: partition, Size: int64(len(data)), LogVersion: int32(version), LogFiles: []string{name},
	})
}

// pendingSlices moves on the base instants under which version 6 names the next
// logs: a pending compaction makes a new slice of each group that its plan has.
// On another group's name its instant would hide the group's base file.
func (t *Table) pendingSlices(ctx context.Context, partition string, groups map[string]*slice) error {
	if t.Timeline.Layout != timeline.Layout1 {
		return nil
	}
	for _, i := range t.Timeline.Instants {
		if i.Action != timeline.Compaction || i.State == timeline.Completed {
			continue
		}
		operations, err := t.Timeline.Compaction(ctx, i)
		if err != nil {
			return err
		}
		for _, o := range operations {
			if g := groups[o.FileID]; g != nil && o.Partition == partition {
				g.instant = max(g.instant, i.Time)
			}
		}
	}
	return nil
}

// nextVersion is the next free log version under the slice's instant.
func (s *slice) nextVersion() int {
	version := 1
	for _, l := range s.logs {
		if l.Instant == s.instant {
			version = max(version, l.Version+1)
		}
	}
	return version
}

// writeSchema returns the record schema that the table's writer uses, so that
// an older one goes on reading the table: that of the newest log block, else
// that of the base file without the fields that Hudi puts in front.
func (t *Table) writeSchema(ctx context.Context, groups map[string]*slice) (string, error) {
	for _, s := range groups {
		for _, l := range slices.Backward(s.logs) {
			for b, err := range logblock.Blocks(store.NewReaderAt(ctx, t.reader, l.key, l.size), l.size) {
				if err != nil {
					return "", err
				}
				if b.Type == logblock.HFileData {
					return b.Header[logblock.Schema], nil
				}
			}
		}
		if s.base == nil {
			continue
		}
		h, err := hfile.Open(store.NewReaderAt(ctx, t.reader, s.base.key, s.base.size), s.base.size)
		if err != nil {
			return "", err
		}
		if text, ok := h.Info("schema"); ok {
			return withoutMetaFields(text)
		}
	}
	return "", damaged("no schema in partition files")
}

func withoutMetaFields(schema []byte) (string, error) {
	var s map[string]json.RawMessage
	var fields []json.RawMessage
	err := json.Unmarshal(schema, &s)
	if err == nil {
		err = json.Unmarshal(s["fields"], &fields)
	}
	if err != nil {
		return "", damaged("schema: %w", err)
	}
	fields = slices.DeleteFunc(fields, func(f json.RawMessage) bool {
		var named struct {
			Name string `json:"name"`
		}
		return json.Unmarshal(f, &named) == nil && strings.HasPrefix(named.Name, "_hoodie_")
	})
	if s["fields"], err = json.Marshal(fields); err != nil {
		return "", err
	}
	out, err := json.Marshal(s)
	return string(out), err
}

// filesLog encodes the blocks of "files": a record for each partition with a
// tombstone for each file; for dead partitions one in the record of all
// partitions, and then their keys. It returns how many records there are.
func filesLog(schema string, c Clean, now time.Time) ([]byte, int, error) {
	s, err := avro.Parse(schema)
	if err != nil {
		return nil, 0, damaged("schema: %w", err)
	}
	records := make(map[string]map[string]fileInfo)
	add := func(key string, names []string) {
		files := make(map[string]fileInfo, len(names))
		for _, n := range names {
			files[n] = fileInfo{Deleted: true}
		}
		records[key] = files
	}
	for partition, names := range c.Files {
		if !slices.Contains(c.DeadPartitions, partition) {
			add(recordKey(partition), names)
		}
	}
	if len(c.DeadPartitions) > 0 {
		dead := make([]string, len(c.DeadPartitions))
		for i, p := range c.DeadPartitions {
			dead[i] = recordKey(p)
		}
		add(allPartitions, dead)
	}
	var content bytes.Buffer
	w := hfile.NewWriter(&content, hfile.Options{Info: map[string][]byte{"schema": []byte(schema)}, Created: now})
	for _, key := range slices.Sorted(maps.Keys(records)) {
		typ := int32(typePartition)
		if key == allPartitions {
			typ = typeAllPartitions
		}
		value, err := encodeRecord(s, typ, records[key])
		if err == nil {
			err = w.Append(key, value)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, 0, err
	}
	headers := map[logblock.Header]string{logblock.InstantTime: c.Instant, logblock.Schema: schema}
	out := logblock.Append(nil, logblock.HFileData, headers, content.Bytes())
	if len(c.DeadPartitions) == 0 {
		return out, len(records), nil
	}
	deletions, err := logblock.NewDeletions()
	if err != nil {
		return nil, 0, err
	}
	var keys []logblock.DeletedKey
	for _, p := range c.DeadPartitions {
		keys = append(keys, logblock.DeletedKey{RecordKey: recordKey(p), PartitionPath: FilesPartition})
	}
	block, err := deletions.Encode(keys)
	return logblock.Append(out, logblock.Delete, headers, block), len(records), err
}

// encodeRecord encodes a record with an empty key: the HFile has it.
func encodeRecord(s *avro.Schema, typ int32, files map[string]fileInfo) ([]byte, error) {
	entries := make(map[string]any, len(files))
	for name, i := range files {
		entries[name] = map[string]any{"size": i.Size, "isDeleted": i.Deleted}
	}
	return s.Encode(map[string]any{"key": "", "type": typ, "filesystemMetadata": entries})
}
