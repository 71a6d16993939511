package mdt

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// Files is the merged partition "files". Safe for concurrent use.
//
// Memory: what was written since the metadata table's last compaction, as it
// lies in the log (100 bytes a name), and a few blocks of its base file.
type Files struct {
	base       *hfile.Reader // nil if there is none
	baseSchema string
	shape      *shape // of the base file's records; nil if it isn't the usual one
	schemas    *schemas
	log        map[string]*change
}

// change is what the log says of one key.
type change struct {
	replaced bool      // a delete block dropped what the base file has
	values   []encoded // oldest first
}

// encoded is a record that is decoded when it is asked for.
type encoded struct {
	schema *avro.Schema
	value  []byte
}

// files merges the records of c, key's, among themselves.
func (c *change) files(key string) (map[string]fileInfo, error) {
	var out map[string]fileInfo
	for _, v := range c.values {
		r, err := decodeRecord(v.schema, key, v.value)
		if err != nil {
			return nil, err
		}
		out = merge(out, r.Files)
	}
	return out, nil
}

// Files reads the log of the partition "files" and opens its base file.
//
// Errors: Damaged, Unsupported; those of the store.
func (t *Table) Files(ctx context.Context) (*Files, error) {
	groups, err := t.newest(ctx, FilesPartition)
	if err != nil {
		return nil, err
	}
	if len(groups) != 1 {
		return nil, damaged("%d file groups in partition files", len(groups))
	}
	f := &Files{schemas: &schemas{}, log: make(map[string]*change)}
	for _, s := range groups {
		if s.base == nil && len(s.logs) == 0 {
			return nil, damaged("no file of partition files belongs to a completed commit")
		}
		if err := f.readLogs(ctx, t, s.logs); err != nil {
			return nil, err
		}
		if s.base == nil {
			continue
		}
		if f.base, f.baseSchema, err = openBase(ctx, t.reader, *s.base); err != nil {
			return nil, err
		}
		f.shape = shapeOf(f.baseSchema)
	}
	return f, nil
}

func (f *Files) readLogs(ctx context.Context, t *Table, logs []entry) error {
	deletions, err := logblock.NewDeletions()
	if err != nil {
		return err
	}
	blocks, err := readBlocks(ctx, t.reader, logs)
	if err != nil {
		return err
	}
	for _, b := range logblock.Visible(blocks, t.counts) {
		if err := f.apply(b, deletions); err != nil {
			return fmt.Errorf("metadata table, block of %s: %w", b.Instant(), err)
		}
	}
	return nil
}

func (f *Files) apply(b logblock.Block, deletions logblock.Deletions) error {
	switch b.Type {
	case logblock.Delete:
		keys, err := keysDeleted(b, deletions)
		for _, k := range keys {
			f.log[k] = &change{replaced: true}
		}
		return err
	case logblock.HFileData:
		schema, err := f.schemas.get(b.Header[logblock.Schema])
		if err != nil {
			return err
		}
		return eachEntry(b, func(e hfile.Entry) error {
			if f.log[e.Key] == nil {
				f.log[e.Key] = &change{}
			}
			f.log[e.Key].values = append(f.log[e.Key].values, encoded{schema, e.Value})
			return nil
		})
	}
	return damaged("a block of type %d", b.Type)
}

// lookup returns the merged entries of a key and whether there is such a record.
func (f *Files) lookup(key string) (map[string]fileInfo, bool, error) {
	c := f.log[key]
	var changed map[string]fileInfo
	if c != nil {
		var err error
		if changed, err = c.files(key); err != nil {
			return nil, false, err
		}
	}
	if f.base == nil || c != nil && c.replaced {
		return changed, changed != nil, nil
	}
	value, ok, err := f.base.Lookup(key)
	if err != nil {
		return nil, false, err
	}
	var files map[string]fileInfo
	if ok && len(value) > 0 {
		schema, err := f.schemas.get(f.baseSchema)
		if err != nil {
			return nil, false, err
		}
		r, err := decodeRecord(schema, key, value)
		if err != nil {
			return nil, false, err
		}
		files = r.Files
	}
	if c != nil {
		files = merge(files, changed)
	}
	return files, ok || c != nil, nil
}

// Partitions returns the data table's partitions, "" for an unpartitioned
// one's, in byte order.
func (f *Files) Partitions() ([]string, error) {
	all, ok, err := f.lookup(allPartitions)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, damaged("%w", errNoRecord)
	}
	var out []string
	for key, i := range all {
		if !i.Deleted {
			out = append(out, partitionPath(key))
		}
	}
	slices.Sort(out)
	return out, nil
}

// unchanged is Partition of one that the log doesn't name; nil for others, and
// for records of an unusual shape.
func (f *Files) unchanged(path string) (map[string]int64, error) {
	key := recordKey(path)
	if f.shape == nil || f.log[key] != nil {
		return nil, nil
	}
	value, ok, err := f.base.Lookup(key)
	if err != nil || !ok || len(value) == 0 {
		return nil, err
	}
	if files, ok := f.shape.sizes(value); ok {
		return files, nil
	}
	return nil, nil
}

// Partition returns name and size of each file of a partition; none where the
// partition is unknown.
func (f *Files) Partition(path string) (map[string]int64, error) {
	if out, err := f.unchanged(path); out != nil || err != nil {
		return out, err
	}
	files, _, err := f.lookup(recordKey(path))
	if err != nil {
		return nil, err
	}
	out := make(map[string]int64, len(files))
	for name, i := range files {
		if !i.Deleted {
			out[name] = i.Size
		}
	}
	return out, nil
}

// deletedOnce leaves out the files that the log deletes already, as a restore
// may while a clean is pending: Hudi up to 1.2 lets two tombstones vanish
// together, and would list a file again that the base file has.
func (t *Table) deletedOnce(ctx context.Context, c Clean) (Clean, error) {
	f, err := t.Files(ctx)
	if err != nil {
		return c, err
	}
	files := make(map[string][]string, len(c.Files))
	for partition, names := range c.Files {
		if change := f.log[recordKey(partition)]; change != nil {
			known, err := change.files(recordKey(partition))
			if err != nil {
				return c, err
			}
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return known[name].Deleted })
		}
		files[partition] = names
	}
	c.Files = files
	return c, nil
}
