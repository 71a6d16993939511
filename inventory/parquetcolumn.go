package inventory

import (
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// reader returns what takes the values of leaf column i, none of them null, for role r.
//
// Errors: Unsupported for a type that can't hold the role, or a repeated column.
func (f *parquetFile) reader(r role, i int, clock times) (func(*raw, parquet.Value), error) {
	leaf, ok := f.file.Schema().Lookup(f.file.Schema().Columns()[i]...)
	if !ok || leaf.MaxRepetitionLevel > 0 {
		return nil, f.typeError(i, leaf.Node.Type(), "one value a row")
	}
	t := leaf.Node.Type()
	kind := t.Kind()
	switch {
	case (r == roleModified || r == roleCreated || r == roleRecorded) && kind != parquet.ByteArray:
		read := timeReader(t, clock)
		if read == nil {
			return nil, f.typeError(i, t, "times")
		}
		switch r {
		case roleCreated:
			return func(row *raw, v parquet.Value) { row.created = read(v) }, nil
		case roleRecorded:
			return func(row *raw, v parquet.Value) { row.recorded = read(v) }, nil
		}
		return func(row *raw, v parquet.Value) { row.modified = read(v) }, nil
	case kind == parquet.ByteArray:
		return func(row *raw, v parquet.Value) { row.set(r, v.ByteArray(), clock) }, nil
	case r == roleSize && (kind == parquet.Int32 || kind == parquet.Int64):
		return func(row *raw, v parquet.Value) { row.size = max(integer(v), -1) }, nil
	case r == rolePath, r == rolePathRaw, r == roleBucket, r == roleETag, r == roleSize:
		return nil, f.typeError(i, t, roleNames[r]+"s")
	case kind == parquet.Boolean:
		yes, no := []byte("true"), []byte("false")
		return func(row *raw, v parquet.Value) {
			if v.Boolean() {
				row.set(r, yes, clock)
			} else {
				row.set(r, no, clock)
			}
		}, nil
	case kind == parquet.Int32, kind == parquet.Int64:
		return func(row *raw, v parquet.Value) { row.set(r, strconv.AppendInt(nil, integer(v), 10), clock) }, nil
	}
	return nil, f.typeError(i, t, roleNames[r])
}

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// timeReader reads the values of a time column; nil if the type isn't one.
// Timestamps without a zone are UTC; bare integers are judged by their size.
func timeReader(t parquet.Type, clock times) func(parquet.Value) time.Time {
	switch t.Kind() {
	case parquet.Int96:
		return func(v parquet.Value) time.Time { return clock.plausible(int96Time(v.Int96())) }
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
		return func(v parquet.Value) time.Time { return clock.number(integer(v)) }
	}
	perSecond := int64(time.Second / unit)
	return func(v parquet.Value) time.Time {
		n := v.Int64()
		return clock.plausible(time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC())
	}
}

// int96Time reads Impala's timestamp: nanoseconds of the day, then the Julian day.
func int96Time(v deprecated.Int96) time.Time {
	nanos := int64(v[1])<<32 | int64(v[0])
	return time.Unix((int64(v[2])-2_440_588)*86_400, nanos).UTC()
}
