package deltatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Kind is a kind of checkpoint.
type Kind uint8

// The kinds of checkpoints.
const (
	Classic   Kind = iota // one Parquet file
	Multipart             // Parts Parquet files
	V2Parquet             // a Parquet file, and Parts sidecars with the files
	V2JSON                // a JSON file, and Parts sidecars with the files
)

// Checkpoint says what Log.Checkpoint writes.
type Checkpoint struct {
	Kind     Kind
	Parts    int       // of Multipart, or sidecars; 0: 2
	Keep     time.Time // tombstones with an earlier deletionTimestamp are left out
	RowGroup int       // rows of a row group; 0: 3
	ID       string    // unique part of a V2 name; "": one made of the version
}

type sidecar struct {
	Path             string            `json:"path" parquet:"path,optional"`
	SizeInBytes      int64             `json:"sizeInBytes" parquet:"sizeInBytes,optional"`
	ModificationTime int64             `json:"modificationTime" parquet:"modificationTime,optional"`
	Tags             map[string]string `json:"tags,omitempty" parquet:"tags,optional"`
}

type checkpointMetadata struct {
	Version int64 `json:"version" parquet:"version,optional"`
}

// topRow is a row of the top file of a V2 checkpoint.
type topRow struct {
	Action
	CheckpointMetadata *checkpointMetadata `json:"checkpointMetadata,omitempty" parquet:"checkpointMetadata,optional"`
	Sidecar            *sidecar            `json:"sidecar,omitempty" parquet:"sidecar,optional"`
}

// topParquet is topRow without the embedding, which Parquet would nest.
type topParquet struct {
	Add                *Add                `parquet:"add,optional"`
	Remove             *Remove             `parquet:"remove,optional"`
	MetaData           *MetaData           `parquet:"metaData,optional"`
	Protocol           *Protocol           `parquet:"protocol,optional"`
	CheckpointMetadata *checkpointMetadata `parquet:"checkpointMetadata,optional"`
	Sidecar            *sidecar            `parquet:"sidecar,optional"`
}

// Checkpoint writes a checkpoint of a version and returns the names of its
// files, sidecars first.
func (l *Log) Checkpoint(version int64, at time.Time, c Checkpoint) []string {
	l.tb.Helper()
	if c.Parts == 0 {
		c.Parts = 2
	}
	if c.RowGroup == 0 {
		c.RowGroup = 3
	}
	state := l.State(version, c.Keep)
	base := fmt.Sprintf("_delta_log/%020d.checkpoint", version)
	switch c.Kind {
	case Classic:
		return []string{l.put(base+".parquet", parquetOf(l, state, c.RowGroup), at)}
	case Multipart:
		var names []string
		for i := range c.Parts {
			part := state[i*len(state)/c.Parts : (i+1)*len(state)/c.Parts]
			names = append(names, l.put(fmt.Sprintf("%s.%010d.%010d.parquet", base, i+1, c.Parts), parquetOf(l, part, c.RowGroup), at))
		}
		return names
	}
	return l.v2(version, at, c, state, base)
}

func (l *Log) v2(version int64, at time.Time, c Checkpoint, state []Action, base string) (names []string) {
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("%08x-0000-4000-8000-000000000000", version)
	}
	rows := []topRow{{CheckpointMetadata: &checkpointMetadata{version}}, {Action: state[0]}, {Action: state[1]}}
	files := state[2:]
	for i := range c.Parts {
		body := parquetOf(l, files[i*len(files)/c.Parts:(i+1)*len(files)/c.Parts], c.RowGroup)
		name := fmt.Sprintf("%s-%d.parquet", id, i)
		names = append(names, l.put("_delta_log/_sidecars/"+name, body, at))
		rows = append(rows, topRow{Sidecar: &sidecar{Path: name, SizeInBytes: int64(len(body)), ModificationTime: at.UnixMilli()}})
	}
	if c.Kind == V2JSON {
		var body strings.Builder
		for _, r := range rows {
			b, err := json.Marshal(r)
			if err != nil {
				l.tb.Fatalf("deltatest: %v", err)
			}
			body.Write(append(b, '\n'))
		}
		return append(names, l.put(base+"."+id+".json", []byte(body.String()), at))
	}
	top := make([]topParquet, len(rows))
	for i, r := range rows {
		top[i] = topParquet{r.Add, r.Remove, r.MetaData, r.Protocol, r.CheckpointMetadata, r.Sidecar}
	}
	return append(names, l.put(base+"."+id+".parquet", parquetOf(l, top, c.RowGroup), at))
}

func (l *Log) put(name string, data []byte, at time.Time) string {
	l.tb.Helper()
	l.Put(name, data, at)
	return name
}

// parquetOf renders rows as a Parquet file.
func parquetOf[T any](l *Log, rows []T, rowGroup int) []byte {
	l.tb.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf, parquet.MaxRowsPerRowGroup(int64(rowGroup)), parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		l.tb.Fatalf("deltatest: %v", err)
	}
	if err := w.Close(); err != nil {
		l.tb.Fatalf("deltatest: %v", err)
	}
	return buf.Bytes()
}
