package mdt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/hfile"
	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// sharded is a partition of the metadata table whose keys are spread over file
// groups. Shards are opened when first asked. Safe for concurrent use.
type sharded struct {
	t       *Table
	ids     []string
	slices  map[string]*slice
	schemas schemas

	mu   sync.Mutex
	open map[int]*shardFiles
}

// shardFiles is one shard: its base file, and what the log says of keys.
type shardFiles struct {
	base   *hfile.Reader // nil if there is none
	schema string
	log    map[string]*indexRecord // nil: deleted
	sorted []string                // the log's keys
}

type found struct {
	key    string
	record indexRecord
}

func (t *Table) sharded(ctx context.Context, partition string) (*sharded, error) {
	groups, err := t.newest(ctx, partition)
	if err != nil {
		return nil, err
	}
	return &sharded{t: t, ids: shards(groups), slices: groups, open: make(map[int]*shardFiles)}, nil
}

func (s *sharded) all() []int {
	out := make([]int, len(s.ids))
	for i := range out {
		out[i] = i
	}
	return out
}

// global reports a record index that isn't split by the data's partitions.
func (s *sharded) global() bool {
	return len(s.ids) > 0 && !slices.ContainsFunc(s.ids, func(id string) bool {
		return len(id) != len("record-index-0000-0") || !strings.HasPrefix(id, "record-index-")
	})
}

// prefix returns the live records of a shard whose keys begin with prefix.
func (s *sharded) prefix(ctx context.Context, n int, prefix string) ([]found, error) {
	if n < 0 || n >= len(s.ids) {
		return nil, nil
	}
	f, err := s.files(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []found
	from, _ := slices.BinarySearch(f.sorted, prefix)
	for _, key := range f.sorted[from:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if r := f.log[key]; r != nil {
			out = append(out, found{key, *r})
		}
	}
	if f.base == nil {
		return out, nil
	}
	for e, err := range f.base.Prefix(prefix) {
		if err != nil {
			return nil, err
		}
		if _, newer := f.log[e.Key]; newer {
			continue
		}
		r, err := s.decode(f.schema, e)
		if err != nil {
			return nil, err
		}
		if r.Secondary == nil || !r.Secondary.Deleted {
			out = append(out, found{e.Key, *r})
		}
	}
	return out, nil
}

func (s *sharded) decode(schema string, e hfile.Entry) (*indexRecord, error) {
	parsed, err := s.schemas.get(schema)
	if err != nil {
		return nil, err
	}
	return decodeAs[indexRecord](parsed, e.Key, e.Value)
}

func (s *sharded) files(ctx context.Context, n int) (*shardFiles, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[n]; f != nil {
		return f, nil
	}
	part := s.slices[s.ids[n]]
	f := &shardFiles{log: make(map[string]*indexRecord)}
	if err := s.logs(ctx, f, part.logs); err != nil {
		return nil, err
	}
	f.sorted = slices.Sorted(maps.Keys(f.log))
	if b := part.base; b != nil {
		var err error
		if f.base, f.schema, err = openBase(ctx, s.t.reader, *b); err != nil {
			return nil, err
		}
	}
	s.open[n] = f
	return f, nil
}

func (s *sharded) logs(ctx context.Context, f *shardFiles, logs []entry) error {
	deletions, err := logblock.NewDeletions()
	if err != nil {
		return err
	}
	blocks, err := readBlocks(ctx, s.t.reader, logs)
	if err != nil {
		return err
	}
	for _, b := range logblock.Visible(blocks, s.t.counts) {
		if err := s.block(f, b, deletions); err != nil {
			return fmt.Errorf("metadata table, block of %s: %w", b.Instant(), err)
		}
	}
	return nil
}

func (s *sharded) block(f *shardFiles, b logblock.Block, deletions logblock.Deletions) error {
	switch b.Type {
	case logblock.Delete:
		keys, err := keysDeleted(b, deletions)
		for _, k := range keys {
			f.log[k] = nil
		}
		return err
	case logblock.HFileData:
		return eachEntry(b, func(e hfile.Entry) error {
			r, err := s.decode(b.Header[logblock.Schema], e)
			if err == nil && r.Secondary != nil && r.Secondary.Deleted {
				r = nil
			}
			f.log[strings.Clone(e.Key)] = r
			return err
		})
	}
	return damaged("a block of type %d", b.Type)
}

// openBase opens a base file and returns the schema of its records.
func openBase(ctx context.Context, r store.Reader, e entry) (*hfile.Reader, string, error) {
	h, err := hfile.Open(store.NewReaderAt(ctx, r, e.key, e.size), e.size)
	if err != nil {
		return nil, "", err
	}
	schema, ok := h.Info("schema")
	if !ok {
		return nil, "", damaged("%s: no schema", e.Name)
	}
	return h, string(schema), nil
}

// readBlocks returns the blocks of log files in order.
func readBlocks(ctx context.Context, r store.Reader, logs []entry) (blocks []logblock.Block, err error) {
	for _, l := range logs {
		for b, err := range logblock.Blocks(store.NewReaderAt(ctx, r, l.key, l.size), l.size) {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l.Name, err)
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, nil
}

// keysDeleted returns the record keys of a delete block.
func keysDeleted(b logblock.Block, deletions logblock.Deletions) (keys []string, err error) {
	content, err := b.Content()
	if err != nil {
		return nil, err
	}
	list, err := deletions.Keys(content)
	for _, k := range list {
		keys = append(keys, k.RecordKey)
	}
	return keys, err
}

// eachEntry yields the entries of an HFile block.
func eachEntry(b logblock.Block, fn func(hfile.Entry) error) error {
	section := b.Section()
	h, err := hfile.Open(section, section.Size())
	if err != nil {
		return err
	}
	for e, err := range h.All() {
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
