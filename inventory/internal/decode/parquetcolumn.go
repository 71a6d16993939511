package decode

import (
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
)

// reader returns what takes the values of leaf column i, none of them null, for role r.
//
// Errors: Unsupported for a type that can't hold the role, or a repeated column.
func (f *parquetFile) reader(r columns.Role, i int, clock value.Times) (func(*rowset.Raw, parquet.Value), error) {
	leaf, ok := f.file.Schema().Lookup(f.file.Schema().Columns()[i]...)
	if !ok || leaf.MaxRepetitionLevel > 0 {
		return nil, f.typeError(i, leaf.Node.Type(), "one value a row")
	}
	t := leaf.Node.Type()
	kind := t.Kind()
	switch {
	case (r == columns.Modified || r == columns.Created || r == columns.Recorded) && kind != parquet.ByteArray:
		read := timeReader(t, clock)
		if read == nil {
			return nil, f.typeError(i, t, "times")
		}
		switch r {
		case columns.Created:
			return func(row *rowset.Raw, v parquet.Value) { row.Created = read(v) }, nil
		case columns.Recorded:
			return func(row *rowset.Raw, v parquet.Value) { row.Recorded = read(v) }, nil
		}
		return func(row *rowset.Raw, v parquet.Value) { row.Modified = read(v) }, nil
	case kind == parquet.ByteArray:
		return func(row *rowset.Raw, v parquet.Value) { row.Set(r, v.ByteArray(), clock) }, nil
	case r == columns.Size && (kind == parquet.Int32 || kind == parquet.Int64):
		return func(row *rowset.Raw, v parquet.Value) { row.Size = max(integer(v), -1) }, nil
	case r == columns.Path, r == columns.PathRaw, r == columns.Bucket, r == columns.ETag, r == columns.Size:
		return nil, f.typeError(i, t, r.String()+"s")
	case kind == parquet.Boolean:
		yes, no := []byte("true"), []byte("false")
		return func(row *rowset.Raw, v parquet.Value) {
			if v.Boolean() {
				row.Set(r, yes, clock)
			} else {
				row.Set(r, no, clock)
			}
		}, nil
	case kind == parquet.Int32, kind == parquet.Int64:
		return func(row *rowset.Raw, v parquet.Value) { row.Set(r, strconv.AppendInt(nil, integer(v), 10), clock) }, nil
	}
	return nil, f.typeError(i, t, r.String())
}

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// timeReader reads the values of a time column; nil if the type isn't one.
// Timestamps without a zone are UTC; bare integers are judged by their size.
func timeReader(t parquet.Type, clock value.Times) func(parquet.Value) time.Time {
	switch t.Kind() {
	case parquet.Int96:
		return func(v parquet.Value) time.Time { return clock.Plausible(int96Time(v.Int96())) }
	case parquet.Int64, parquet.Int32:
	default:
		return nil
	}
	logical, ok := t.LogicalType(), false
	var unit time.Duration
	if logical != nil {
		if stamp, isStamp := logical.Value.(*format.TimestampType); isStamp && stamp.Unit.Value != nil {
			unit, ok = stamp.Unit.Value.Duration(), true
		}
	}
	if !ok {
		return func(v parquet.Value) time.Time { return clock.Number(integer(v)) }
	}
	perSecond := int64(time.Second / unit)
	return func(v parquet.Value) time.Time {
		n := v.Int64()
		return clock.Plausible(time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC())
	}
}

// int96Time reads Impala's timestamp: nanoseconds of the day, then the Julian day.
func int96Time(v deprecated.Int96) time.Time {
	nanos := int64(v[1])<<32 | int64(v[0])
	return time.Unix((int64(v[2])-2_440_588)*86_400, nanos).UTC()
}
