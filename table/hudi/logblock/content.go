package logblock

import (
	"encoding/binary"
	"iter"

	"github.com/twmb/avro"
)

// contentVersion is the version of Avro and delete contents that is written.
const contentVersion = 3

// Records yields the records of an AvroData or CDCData content, each as Avro
// binary in the schema of the block's header.
//
// Errors: Damaged; Unsupported for a content version without a record count.
func Records(content []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if len(content) < 8 {
			yield(nil, damaged("data content of %d bytes", len(content)))
			return
		}
		if v := binary.BigEndian.Uint32(content); v < 1 || v > contentVersion {
			yield(nil, unsupported("data content of version %d", v))
			return
		}
		n, rest := int32(binary.BigEndian.Uint32(content[4:])), content[8:]
		for range n {
			if len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-4) {
				yield(nil, damaged("a record runs past the end"))
				return
			}
			end := 4 + int(binary.BigEndian.Uint32(rest))
			if !yield(rest[4:end:end], nil) {
				return
			}
			rest = rest[end:]
		}
		if n < 0 || len(rest) > 0 {
			yield(nil, damaged("%d records, %d bytes left over", n, len(rest)))
		}
	}
}

// DeletedKey is an entry of a Delete content.
type DeletedKey struct {
	RecordKey     string
	PartitionPath string
}

// deleteList is the part of HoodieDeleteRecordList that is read. The ordering
// value's wrappers have one field each; Hudi 1.1 added the last.
const deleteList = `{"type":"record","name":"HoodieDeleteRecordList","fields":[{"name":"deleteRecordList","type":{"type":"array","items":
{"type":"record","name":"HoodieDeleteRecord","fields":[{"name":"recordKey","type":["null","string"]},{"name":"partitionPath","type":["null","string"]},
{"name":"orderingVal","type":["null",
{"type":"record","name":"BooleanWrapper","fields":[{"name":"value","type":"boolean"}]},
{"type":"record","name":"IntWrapper","fields":[{"name":"value","type":"int"}]},
{"type":"record","name":"LongWrapper","fields":[{"name":"value","type":"long"}]},
{"type":"record","name":"FloatWrapper","fields":[{"name":"value","type":"float"}]},
{"type":"record","name":"DoubleWrapper","fields":[{"name":"value","type":"double"}]},
{"type":"record","name":"BytesWrapper","fields":[{"name":"value","type":"bytes"}]},
{"type":"record","name":"StringWrapper","fields":[{"name":"value","type":"string"}]},
{"type":"record","name":"DateWrapper","fields":[{"name":"value","type":"int"}]},
{"type":"record","name":"DecimalWrapper","fields":[{"name":"value","type":"bytes"}]},
{"type":"record","name":"TimeMicrosWrapper","fields":[{"name":"value","type":"long"}]},
{"type":"record","name":"TimestampMicrosWrapper","fields":[{"name":"value","type":"long"}]},
{"type":"record","name":"ArrayWrapper","fields":[{"name":"wrappedValues","type":{"type":"array","items":["null","BooleanWrapper","IntWrapper","LongWrapper",
"FloatWrapper","DoubleWrapper","BytesWrapper","StringWrapper","DateWrapper","DecimalWrapper","TimeMicrosWrapper","TimestampMicrosWrapper"]}}]}]}]}}}]}`

// Deletions decodes and encodes Delete contents. Safe for concurrent use.
type Deletions struct{ schema *avro.Schema }

// NewDeletions parses the schema of delete contents.
func NewDeletions() (Deletions, error) {
	s, err := avro.Parse(deleteList)
	return Deletions{s}, err
}

type deleteRecord struct {
	RecordKey     *string `avro:"recordKey"`
	PartitionPath *string `avro:"partitionPath"`
	OrderingVal   any     `avro:"orderingVal"`
}

type deleteRecords struct {
	List []deleteRecord `avro:"deleteRecordList"`
}

// Keys returns the keys that a Delete content names.
//
// Errors: Damaged; Unsupported for versions 1 and 2, which hold Java objects.
func (d Deletions) Keys(content []byte) ([]DeletedKey, error) {
	if len(content) < 8 {
		return nil, damaged("delete content of %d bytes", len(content))
	}
	if v := binary.BigEndian.Uint32(content); v != contentVersion {
		return nil, unsupported("delete content of version %d", v)
	}
	n := binary.BigEndian.Uint32(content[4:])
	if uint64(n) != uint64(len(content)-8) {
		return nil, damaged("delete content of %d bytes says %d", len(content)-8, n)
	}
	var list deleteRecords
	if rest, err := d.schema.Decode(content[8:], &list); err != nil || len(rest) > 0 {
		return nil, damaged("delete content: %d bytes left over, %w", len(rest), err)
	}
	keys := make([]DeletedKey, 0, len(list.List))
	for _, r := range list.List {
		if r.RecordKey == nil {
			return nil, damaged("delete content with a null key")
		}
		k := DeletedKey{RecordKey: *r.RecordKey}
		if r.PartitionPath != nil {
			k.PartitionPath = *r.PartitionPath
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Encode returns the Delete content that names keys, with the integer 0 for
// ordering values, as metadata tables have it.
func (d Deletions) Encode(keys []DeletedKey) ([]byte, error) {
	var list deleteRecords
	for _, k := range keys {
		list.List = append(list.List, deleteRecord{&k.RecordKey, &k.PartitionPath, map[string]any{"IntWrapper": map[string]any{"value": int32(0)}}})
	}
	body, err := d.schema.Encode(&list)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(nil, contentVersion)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	return append(out, body...), nil
}
