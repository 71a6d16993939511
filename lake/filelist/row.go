package filelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

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

// toRow converts a normal verdict.
func toRow(v *lake.Verdict) (row, error) {
	r := row{Modified: nanos(v.Modified), Tombstone: nanos(v.Tombstone), DueAt: nanos(v.DueAt), Directory: v.Directory, Absolute: v.URI != ""}
	path := string(v.Key)
	if r.Absolute {
		path = v.URI
	}
	switch {
	case path == "":
		return row{}, errors.New("a row without a path")
	case v.Key != "" && v.URI != "":
		return row{}, fmt.Errorf("a row with both the key %q and the URI %q", v.Key, v.URI)
	case utf8.ValidString(path):
		r.Path = &path
	default:
		r.PathRaw = []byte(path)
	}
	if size := v.Size; size >= 0 {
		r.Size = &size
	}
	if reason := string(v.Reason); reason != "" {
		r.Reason = &reason
	}
	if etag := v.ETag; etag != "" {
		r.ETag = &etag
	}
	if v.Partition != nil {
		text, err := partitionJSON(v.Partition)
		if err != nil {
			return row{}, err
		}
		r.Partition = &text
	}
	return r, nil
}

func nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixNano()
	return &n
}

// verdict converts a row back. Its strings are copies.
func (r *row) verdict() (lake.Verdict, error) {
	v := lake.Verdict{Size: -1, Modified: fromNanos(r.Modified), Tombstone: fromNanos(r.Tombstone), DueAt: fromNanos(r.DueAt), Directory: r.Directory}
	path := string(r.PathRaw)
	if r.Path != nil {
		path = strings.Clone(*r.Path)
	}
	if path == "" {
		return v, errors.New("a row without a path")
	}
	if r.Absolute {
		v.URI = path
	} else {
		v.Key = lake.Key(path)
	}
	if r.Size != nil {
		v.Size = *r.Size
	}
	if r.Reason != nil {
		v.Reason = lake.Reason(strings.Clone(*r.Reason))
	}
	if r.ETag != nil {
		v.ETag = strings.Clone(*r.ETag)
	}
	if r.Partition != nil {
		p, err := parsePartition(*r.Partition)
		if err != nil {
			return v, fmt.Errorf("partition of %q: %w", path, err)
		}
		v.Partition = p
	}
	return normal(v), nil
}

func fromNanos(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(0, *n).UTC()
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
