package mdt

import (
	"fmt"
	"sync"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/lake"
)

// The record types of the partition "files".
const (
	typeAllPartitions = 1
	typePartition     = 2
)

const (
	allPartitions = "__all_partitions__"
	unpartitioned = "." // the key of an unpartitioned table's only partition
)

func recordKey(partition string) string {
	if partition == "" {
		return unpartitioned
	}
	return partition
}

func partitionPath(key string) string {
	if key == unpartitioned {
		return ""
	}
	return key
}

// fileInfo is HoodieMetadataFileInfo.
type fileInfo struct {
	Size    int64 `avro:"size"`
	Deleted bool  `avro:"isDeleted"`
}

// record is the part of HoodieMetadataRecord that "files" uses.
type record struct {
	Key   string              `avro:"key"`
	Type  int32               `avro:"type"`
	Files map[string]fileInfo `avro:"filesystemMetadata"`
}

// schemas parses each schema text once. Safe for concurrent use.
type schemas struct {
	mu    sync.Mutex
	known map[string]*avro.Schema
}

func (s *schemas) get(text string) (*avro.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.known[text]; p != nil {
		return p, nil
	}
	p, err := avro.Parse(text)
	if err != nil {
		return nil, damaged("schema: %w", err)
	}
	if s.known == nil {
		s.known = make(map[string]*avro.Schema)
	}
	s.known[text] = p
	return p, nil
}

func decodeRecord(schema *avro.Schema, key string, value []byte) (record, error) {
	p, err := decodeAs[record](schema, key, value)
	if err != nil {
		return record{}, err
	}
	r := *p
	if r.Type != typeAllPartitions && r.Type != typePartition {
		return r, damaged("record %q of type %d in partition files", key, r.Type)
	}
	r.Key = key
	return r, nil
}

// decodeAs reads the fields of T from a record.
func decodeAs[T any](schema *avro.Schema, key string, value []byte) (*T, error) {
	r := new(T)
	rest, err := schema.Decode(value, r, avro.SkipUnknown())
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes left over", len(rest))
	}
	if err != nil {
		return nil, damaged("record %q: %w", key, err)
	}
	return r, nil
}

// merge lays newer over older, which it changes: a tombstone stays, however
// often a file is deleted, as that of a base file yet to come may be among what
// it deletes; of two sizes the larger counts. Hudi up to 1.2 lets a tombstone
// vanish together with what it finds, be it another tombstone, and then goes on
// listing a file that is gone, as one of its group's versions.
//
// Source: HoodieMetadataPayload.combineFileSystemMetadata.
func merge(older, newer map[string]fileInfo) map[string]fileInfo {
	out := older
	if out == nil {
		out = make(map[string]fileInfo, len(newer))
	}
	for name, n := range newer {
		if !n.Deleted {
			n.Size = max(out[name].Size, n.Size)
		}
		out[name] = n
	}
	return out
}

func damaged(format string, args ...any) error {
	return &lake.Error{Op: "read metadata table", Kind: lake.Damaged, Err: fmt.Errorf(format, args...),
		Hint: "Let a Hudi writer rebuild the metadata table."}
}
