// Package deltatest writes Delta tables for tests: commits, checkpoints of
// every kind, checksum files and data files with the times a test wants, to
// any store. It knows nothing of the reader it tests.
package deltatest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Action is one action of a log: exactly one field is set. Raw is a whole line
// as it is, for what no writer should write.
type Action struct {
	Add        *Add           `json:"add,omitempty" parquet:"add,optional"`
	Remove     *Remove        `json:"remove,omitempty" parquet:"remove,optional"`
	CDC        *CDC           `json:"cdc,omitempty" parquet:"-"`
	MetaData   *MetaData      `json:"metaData,omitempty" parquet:"metaData,optional"`
	Protocol   *Protocol      `json:"protocol,omitempty" parquet:"protocol,optional"`
	CommitInfo map[string]any `json:"commitInfo,omitempty" parquet:"-"`
	Raw        string         `json:"-" parquet:"-"`
}

// Add is an add action.
type Add struct {
	Path             string             `json:"path" parquet:"path,optional"`
	PartitionValues  map[string]*string `json:"partitionValues" parquet:"partitionValues,optional" parquet-value:",optional"`
	Size             int64              `json:"size" parquet:"size,optional"`
	ModificationTime int64              `json:"modificationTime" parquet:"modificationTime,optional"`
	DataChange       bool               `json:"dataChange" parquet:"dataChange,optional"`
	Stats            string             `json:"stats,omitempty" parquet:"stats,optional"`
	DeletionVector   *DV                `json:"deletionVector,omitempty" parquet:"deletionVector,optional"`
}

// Remove is a remove action.
type Remove struct {
	Path                 string             `json:"path" parquet:"path,optional"`
	DeletionTimestamp    *int64             `json:"deletionTimestamp,omitempty" parquet:"deletionTimestamp,optional"`
	DataChange           bool               `json:"dataChange" parquet:"dataChange,optional"`
	ExtendedFileMetadata bool               `json:"extendedFileMetadata,omitempty" parquet:"extendedFileMetadata,optional"`
	PartitionValues      map[string]*string `json:"partitionValues,omitempty" parquet:"partitionValues,optional" parquet-value:",optional"`
	Size                 *int64             `json:"size,omitempty" parquet:"size,optional"`
	DeletionVector       *DV                `json:"deletionVector,omitempty" parquet:"deletionVector,optional"`
}

// CDC is a cdc action.
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	DataChange      bool               `json:"dataChange"`
}

// DV is the descriptor of a deletion vector.
type DV struct {
	StorageType    string `json:"storageType" parquet:"storageType,optional"`
	PathOrInlineDv string `json:"pathOrInlineDv" parquet:"pathOrInlineDv,optional"`
	Offset         *int32 `json:"offset,omitempty" parquet:"offset,optional"`
	SizeInBytes    int32  `json:"sizeInBytes" parquet:"sizeInBytes,optional"`
	Cardinality    int64  `json:"cardinality" parquet:"cardinality,optional"`
}

// Format is the format of a metaData action.
type Format struct {
	Provider string            `json:"provider" parquet:"provider,optional"`
	Options  map[string]string `json:"options" parquet:"options,optional"`
}

// MetaData is a metaData action.
type MetaData struct {
	ID               string            `json:"id" parquet:"id,optional"`
	Name             *string           `json:"name,omitempty" parquet:"name,optional"`
	Format           Format            `json:"format" parquet:"format,optional"`
	SchemaString     string            `json:"schemaString" parquet:"schemaString,optional"`
	PartitionColumns []string          `json:"partitionColumns" parquet:"partitionColumns,list"`
	Configuration    map[string]string `json:"configuration" parquet:"configuration,optional"`
	CreatedTime      int64             `json:"createdTime" parquet:"createdTime,optional"`
}

// Protocol is a protocol action.
type Protocol struct {
	MinReaderVersion int32    `json:"minReaderVersion" parquet:"minReaderVersion,optional"`
	MinWriterVersion int32    `json:"minWriterVersion" parquet:"minWriterVersion,optional"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty" parquet:"readerFeatures,optional,list"`
	WriterFeatures   []string `json:"writerFeatures,omitempty" parquet:"writerFeatures,optional,list"`
}

// Schema returns a schemaString of string columns.
func Schema(columns ...string) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = fmt.Sprintf(`{"name":%q,"type":"string","nullable":true,"metadata":{}}`, c)
	}
	return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
}

// NewAdd returns an add of size bytes without partition values.
func NewAdd(path string, size int64) Action {
	return Action{Add: &Add{Path: path, PartitionValues: map[string]*string{}, Size: size, DataChange: true}}
}

// NewRemove returns a remove with a deletionTimestamp.
func NewRemove(path string, at time.Time) Action {
	ms, size := at.UnixMilli(), int64(1)
	return Action{Remove: &Remove{Path: path, DeletionTimestamp: &ms, DataChange: true, ExtendedFileMetadata: true,
		PartitionValues: map[string]*string{}, Size: &size}}
}

// NewCDC returns a cdc action.
func NewCDC(path string, size int64) Action {
	return Action{CDC: &CDC{Path: path, PartitionValues: map[string]*string{}, Size: size}}
}

// WithDV returns a with the deletion vector dv.
func (a Action) WithDV(dv DV) Action {
	switch {
	case a.Add != nil:
		c := *a.Add
		c.DeletionVector, a.Add = &dv, &c
	case a.Remove != nil:
		c := *a.Remove
		c.DeletionVector, a.Remove = &dv, &c
	}
	return a
}

// WithValues returns a with partition values; nil takes them away.
func (a Action) WithValues(values map[string]*string) Action {
	values = maps.Clone(values)
	switch {
	case a.Add != nil:
		c := *a.Add
		c.PartitionValues, a.Add = values, &c
	case a.Remove != nil:
		c := *a.Remove
		c.PartitionValues, a.Remove = values, &c
	case a.CDC != nil:
		c := *a.CDC
		c.PartitionValues, a.CDC = values, &c
	}
	return a
}

// Value returns a pointer to s, for partition values.
func Value(s string) *string { return &s }

const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// UUIDVector returns a deletion vector of kind u and the name of its file.
// prefix is the folder it lies in, "" for the root; offset -1 leaves it out.
func UUIDVector(prefix string, n uint64, offset int32) (DV, string) {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], 0xabcdef0123456789^n)
	binary.BigEndian.PutUint64(id[8:], n*0x9e3779b97f4a7c15)
	code := ""
	for w := 0; w < 16; w += 4 {
		word, part := binary.BigEndian.Uint32(id[w:]), [5]byte{}
		for i := 4; i >= 0; i-- {
			part[i] = z85[word%85]
			word /= 85
		}
		code += string(part[:])
	}
	file := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if prefix != "" {
		file = prefix + "/" + file
	}
	dv := DV{StorageType: "u", PathOrInlineDv: prefix + code, SizeInBytes: 40, Cardinality: 1}
	if offset >= 0 {
		dv.Offset = &offset
	}
	return dv, file
}

// key is the identity of a file action.
func (a Action) key() string {
	path, dv := "", (*DV)(nil)
	if a.Add != nil {
		path, dv = a.Add.Path, a.Add.DeletionVector
	} else {
		path, dv = a.Remove.Path, a.Remove.DeletionVector
	}
	if dv == nil {
		return path
	}
	id := dv.StorageType + dv.PathOrInlineDv
	if dv.Offset != nil {
		id += "@" + strconv.Itoa(int(*dv.Offset))
	}
	return path + "\x00" + id
}
