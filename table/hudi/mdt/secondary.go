package mdt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	recordIndex     = "record_index"
	secondaryPrefix = "secondary_index_"
)

// Secondary is a secondary index on one column, with the record index behind
// it. What it lacks proves nothing: indexes made by a writer's configuration
// miss rows. Safe for concurrent use.
//
// Memory: what was written to the shards that were asked since the last
// compaction, and the indexes of their base files.
// Source: spec/hudi-metadata-table.md sections 3.2, 3.3, 3.5 and 6.
type Secondary struct {
	Field   string // path of the column
	hashed  bool   // version 2: a value lies in one shard
	values  *sharded
	records *sharded
}

// Location is where a record lies.
type Location struct{ Partition, FileID string }

// Secondaries returns the secondary indexes that can be used: available, not
// being built, with a definition, and with a global record index as usable.
//
// Errors: Damaged, Unsupported; those of the store.
func (t *Table) Secondaries(ctx context.Context) ([]*Secondary, error) {
	usable := func(part string) bool {
		return slices.Contains(Partitions(t.data.Properties), part) && !slices.Contains(Building(t.data.Properties), part)
	}
	if !usable(recordIndex) {
		return nil, nil
	}
	defs, err := t.definitions(ctx)
	if err != nil {
		return nil, err
	}
	var out []*Secondary
	var records *sharded
	for _, part := range slices.Sorted(maps.Keys(defs)) {
		d := defs[part]
		if !strings.HasPrefix(part, secondaryPrefix) || !usable(part) || len(d.Fields) == 0 {
			continue
		}
		if records == nil {
			if records, err = t.sharded(ctx, recordIndex); err != nil {
				return nil, err
			}
			if !records.global() {
				return nil, nil
			}
		}
		values, err := t.sharded(ctx, part)
		if err != nil {
			return nil, err
		}
		out = append(out, &Secondary{Field: strings.Join(d.Fields, "."), hashed: d.Version == "V2", values: values, records: records})
	}
	return out, nil
}

// Find returns where a record lies that has a value in the index's column, for
// each value that is found.
func (s *Secondary) Find(ctx context.Context, values []string) (map[string]Location, error) {
	out := make(map[string]Location)
	for _, v := range values {
		prefix := escape(v) + "$"
		shards := s.values.all()
		if s.hashed {
			shards = []int{shard(prefix, len(s.values.ids))}
		}
		for _, n := range shards {
			found, err := s.values.prefix(ctx, n, prefix)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				at, ok, err := s.locate(ctx, unescape(e.key[len(prefix):]))
				if err != nil {
					return nil, err
				}
				if ok {
					out[v] = at
					break
				}
			}
		}
	}
	return out, nil
}

// locate asks the record index.
func (s *Secondary) locate(ctx context.Context, key string) (Location, bool, error) {
	found, err := s.records.prefix(ctx, shard(key, len(s.records.ids)), key)
	if err != nil {
		return Location{}, false, err
	}
	for _, e := range found {
		if e.key != key {
			continue
		}
		at, ok := e.record.location()
		return at, ok, nil
	}
	return Location{}, false, nil
}

// escape puts a backslash before what has a meaning in keys.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "$", `\$`, "\x00", "\\\x00").Replace(s)
}

func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// indexRecord is the part of HoodieMetadataRecord that indexes use.
type indexRecord struct {
	Location  *recordLocation `avro:"recordIndexMetadata"`
	Secondary *struct {
		Deleted bool `avro:"isDeleted"`
	} `avro:"SecondaryIndexMetadata"`
}

// recordLocation is HoodieRecordIndexInfo.
type recordLocation struct {
	Partition *string `avro:"partitionName"`
	High      *int64  `avro:"fileIdHighBits"`
	Low       *int64  `avro:"fileIdLowBits"`
	Index     *int32  `avro:"fileIndex"`
	FileID    *string `avro:"fileId"`
	Encoding  int32   `avro:"fileIdEncoding"`
}

func (r indexRecord) location() (Location, bool) {
	l := r.Location
	if l == nil || l.Partition == nil {
		return Location{}, false
	}
	at := Location{Partition: *l.Partition}
	switch {
	case l.Encoding == 1 && l.FileID != nil:
		at.FileID = *l.FileID
	case l.Encoding == 0 && l.High != nil && l.Low != nil && l.Index != nil:
		h, low := uint64(*l.High), uint64(*l.Low)
		at.FileID = fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", h>>32, h>>16&0xffff, h&0xffff, low>>48, low&0xffffffffffff)
		if *l.Index >= 0 {
			at.FileID += fmt.Sprintf("-%d", *l.Index)
		}
	default:
		return Location{}, false
	}
	return at, true
}
