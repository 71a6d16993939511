package filelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
)

// row is a Verdict as the Parquet file holds it. The columns bear the names of
// the `file` rows of the JSON output.
type row struct {
	Path      *string `parquet:"path,optional"`     // the Key, or the URI if Absolute; null if it isn't UTF-8
	PathRaw   []byte  `parquet:"path_raw,optional"` // then instead of Path
	Size      *int64  `parquet:"size,optional"`     // bytes
	Modified  *int64  `parquet:"modified,optional,timestamp(nanosecond)"`
	Reason    *string `parquet:"reason,optional,dict"`
	Partition *string `parquet:"partition,optional,dict"` // JSON, an object of strings and nulls in the order of the columns
	Tombstone *int64  `parquet:"tombstone_time,optional,timestamp(nanosecond)"`
	DueAt     *int64  `parquet:"due_at,optional,timestamp(nanosecond)"`
	ETag      *string `parquet:"etag,optional"`
	Referrer  []byte  `parquet:"referred_by,optional"` // a Key
	Absolute  bool    `parquet:"absolute"`
	Directory bool    `parquet:"directory"`
}

// The instants that 64 bits of nanoseconds hold. Others are unknown.
var (
	minTime = time.Unix(0, math.MinInt64)
	maxTime = time.Unix(0, math.MaxInt64)
)

// normal returns v as it reads back from a file: instants in UTC, those out of
// range unknown; an unknown size is -1; partition values are UTF-8.
func normal(v lake.Verdict) lake.Verdict {
	v.Modified, v.Tombstone, v.DueAt = instant(v.Modified), instant(v.Tombstone), instant(v.DueAt)
	v.Size = max(v.Size, -1)
	for _, p := range v.Partition {
		if !utf8.ValidString(p.Column) || !utf8.ValidString(p.Value) || p.Null && p.Value != "" {
			v.Partition = normalPartition(v.Partition)
			break
		}
	}
	return v
}

func normalPartition(p lake.Partition) lake.Partition {
	out := make(lake.Partition, len(p))
	for i, v := range p {
		out[i] = lake.PartitionValue{Column: strings.ToValidUTF8(v.Column, "\uFFFD"), Null: v.Null}
		if !v.Null {
			out[i].Value = strings.ToValidUTF8(v.Value, "\uFFFD")
		}
	}
	return out
}

func instant(t time.Time) time.Time {
	if t.IsZero() || t.Before(minTime) || t.After(maxTime) {
		return time.Time{}
	}
	return t.UTC()
}

// cells hold what a row points to, so that a batch of rows needs no memory of its own.
type cells struct {
	path, reason, partition, etag    string
	size, modified, tombstone, dueAt int64
}

// toRow converts a normal verdict whose partition is spelled as text.
func (c *cells) toRow(v *lake.Verdict, partition string) (row, error) {
	*c = cells{path: string(v.Key), reason: string(v.Reason), partition: partition, etag: v.ETag, size: v.Size}
	r := row{Directory: v.Directory, Absolute: v.URI != ""}
	r.Modified, r.Tombstone, r.DueAt = nanos(v.Modified, &c.modified), nanos(v.Tombstone, &c.tombstone), nanos(v.DueAt, &c.dueAt)
	if r.Absolute {
		c.path = v.URI
	}
	switch {
	case c.path == "":
		return row{}, errors.New("a row without a path")
	case v.Key != "" && v.URI != "":
		return row{}, fmt.Errorf("a row with both the key %q and the URI %q", v.Key, v.URI)
	case utf8.ValidString(c.path):
		r.Path = &c.path
	default:
		r.PathRaw = []byte(c.path)
	}
	if v.Size >= 0 {
		r.Size = &c.size
	}
	if v.Reason != "" {
		r.Reason = &c.reason
	}
	if v.ETag != "" {
		r.ETag = &c.etag
	}
	if v.Referrer != "" {
		r.Referrer = []byte(v.Referrer)
	}
	if v.Partition != nil {
		r.Partition = &c.partition
	}
	return r, nil
}

func nanos(t time.Time, cell *int64) *int64 {
	if t.IsZero() {
		return nil
	}
	*cell = t.UnixNano()
	return cell
}

// spellings remembers the last values of columns that repeat: verdicts of
// neighbouring rows share them.
type spellings struct {
	reason    lake.Reason
	text      string
	partition lake.Partition
}

// The columns of row, as they are read.
const (
	colPath = iota
	colPathRaw
	colSize
	colModified
	colReason
	colPartition
	colTombstone
	colDueAt
	colETag
	colAbsolute
	colDirectory
	colReferrer // lists of versions that knew no blobs lack it
	columns
)

var columnNames = [columns]string{"path", "path_raw", "size", "modified", "reason", "partition", "tombstone_time", "due_at", "etag", "absolute", "directory", "referred_by"}

// verdict makes a verdict of the i-th value of each column. Its strings are copies.
func (s *spellings) verdict(values *[columns][]parquet.Value, i int) (lake.Verdict, error) {
	v := lake.Verdict{Size: -1, Modified: fromNanos(values[colModified][i]), Tombstone: fromNanos(values[colTombstone][i]),
		DueAt: fromNanos(values[colDueAt][i]), Directory: values[colDirectory][i].Boolean()}
	path := values[colPath][i]
	if path.IsNull() {
		path = values[colPathRaw][i]
	}
	if path.IsNull() || len(path.ByteArray()) == 0 {
		return v, errors.New("a row without a path")
	}
	if values[colAbsolute][i].Boolean() {
		v.URI = string(path.ByteArray())
	} else {
		v.Key = lake.Key(path.ByteArray())
	}
	if size := values[colSize][i]; !size.IsNull() {
		v.Size = size.Int64()
	}
	if reason := values[colReason][i]; !reason.IsNull() {
		if string(s.reason) != string(reason.ByteArray()) {
			s.reason = lake.Reason(reason.ByteArray())
		}
		v.Reason = s.reason
	}
	if etag := values[colETag][i]; !etag.IsNull() {
		v.ETag = string(etag.ByteArray())
	}
	if referrers := values[colReferrer]; referrers != nil && !referrers[i].IsNull() {
		v.Referrer = lake.Key(referrers[i].ByteArray())
	}
	if partition := values[colPartition][i]; !partition.IsNull() {
		text := partition.ByteArray()
		if s.partition == nil || s.text != string(text) {
			p, err := parsePartition(string(text))
			if err != nil {
				return v, fmt.Errorf("partition of %q: %w", path.ByteArray(), err)
			}
			s.text, s.partition = string(text), slices.Clip(p)
		}
		v.Partition = s.partition
	}
	return normal(v), nil
}

func fromNanos(n parquet.Value) time.Time {
	if n.IsNull() {
		return time.Time{}
	}
	return time.Unix(0, n.Int64()).UTC()
}

func partitionJSON(p lake.Partition) (string, error) {
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	err := enc.WriteToken(jsontext.BeginObject)
	for _, v := range p {
		value := jsontext.Null
		if !v.Null {
			value = jsontext.String(v.Value)
		}
		err = errors.Join(err, enc.WriteToken(jsontext.String(v.Column)), enc.WriteToken(value))
	}
	err = errors.Join(err, enc.WriteToken(jsontext.EndObject))
	return strings.TrimSuffix(out.String(), "\n"), err
}

func parsePartition(text string) (lake.Partition, error) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, fmt.Errorf("%q is no JSON object (%w)", text, err)
	}
	p := lake.Partition{}
	for {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if name.Kind() == '}' {
			break
		}
		v := lake.PartitionValue{Column: name.String()}
		value, err := dec.ReadToken()
		switch {
		case err != nil:
			return nil, err
		case value.Kind() == 'n':
			v.Null = true
		case value.Kind() == '"':
			v.Value = value.String()
		default:
			return nil, fmt.Errorf("the value of %q is neither a string nor null", v.Column)
		}
		p = append(p, v)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("more after the object in %q", text)
	}
	return p, nil
}
