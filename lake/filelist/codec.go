package filelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// appendVerdict appends the one binary form of v: what the digest covers and
// what a Sorter spills. Strings are preceded by their length, instants are
// seconds and nanoseconds, each kept apart from "unknown" by a flag.
func appendVerdict(b []byte, v *lake.Verdict) []byte {
	var flags byte
	for i, set := range [...]bool{v.Directory, v.Partition != nil, !v.Modified.IsZero(), !v.Tombstone.IsZero(), !v.DueAt.IsZero(), v.Referrer != ""} {
		if set {
			flags |= 1 << i
		}
	}
	b = append(b, flags)
	b = appendString(b, string(v.Key))
	b = appendString(b, v.URI)
	b = binary.AppendVarint(b, v.Size)
	b = appendString(b, string(v.Reason))
	b = appendString(b, v.ETag)
	for _, t := range [...]time.Time{v.Modified, v.Tombstone, v.DueAt} {
		if !t.IsZero() {
			b = binary.AppendVarint(b, t.Unix())
			b = binary.AppendUvarint(b, uint64(t.Nanosecond()))
		}
	}
	if v.Referrer != "" {
		b = appendString(b, string(v.Referrer))
	}
	if v.Partition != nil {
		b = binary.AppendUvarint(b, uint64(len(v.Partition)))
		for _, p := range v.Partition {
			b = appendString(b, p.Column)
			b = appendString(b, p.Value)
			if p.Null {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errShort = errors.New("record ends early")

// recordPath returns where in a record of appendVerdict the path lies: the key,
// or the URI where there is no key. end is -1 if the record is none.
func recordPath(b []byte) (start, end int) {
	at := 1 // after the flags
	for range 2 {
		if at >= len(b) {
			return 0, -1
		}
		n, size := binary.Uvarint(b[at:])
		if size <= 0 || n > uint64(len(b)-at-size) {
			return 0, -1
		}
		start, end = at+size, at+size+int(n)
		if n > 0 {
			break
		}
		at = end
	}
	return start, end
}

// repeating decodes records whose strings mostly repeat those of the last one,
// and shares them. Its verdicts' partitions must not be changed.
type repeating struct {
	reason    lake.Reason
	partition lake.Partition
	text      []byte // the partition's bytes
}

// decodeVerdict reads one record that appendVerdict wrote.
func decodeVerdict(b []byte) (lake.Verdict, error) { return new(repeating).decode(b) }

// decode reads one record that appendVerdict wrote.
func (r *repeating) decode(b []byte) (lake.Verdict, error) {
	d := decoder{rest: b}
	flags := d.byte()
	v := lake.Verdict{Directory: flags&1 != 0, Key: lake.Key(d.string()), URI: d.string(), Size: d.varint()}
	if reason := d.bytes(); string(reason) != string(r.reason) {
		r.reason = lake.Reason(reason)
	}
	v.Reason, v.ETag = r.reason, d.string()
	for i, t := range [...]*time.Time{&v.Modified, &v.Tombstone, &v.DueAt} {
		if flags&(4<<i) != 0 {
			*t = time.Unix(d.varint(), int64(d.uvarint())).UTC()
		}
	}
	if flags&32 != 0 {
		v.Referrer = lake.Key(d.string())
	}
	if flags&2 != 0 && !d.failed && r.partition != nil && bytes.Equal(d.rest, r.text) {
		v.Partition, d.rest = r.partition, nil
	} else if flags&2 != 0 {
		text := d.rest
		n := d.uvarint()
		v.Partition = make(lake.Partition, 0, min(n, 64))
		for range n {
			if d.failed {
				break
			}
			v.Partition = append(v.Partition, lake.PartitionValue{Column: d.string(), Value: d.string(), Null: d.byte() != 0})
		}
		v.Partition = slices.Clip(v.Partition)
		r.partition, r.text = v.Partition, append(r.text[:0], text...)
	}
	if d.failed || len(d.rest) > 0 {
		return lake.Verdict{}, errShort
	}
	return v, nil
}

// decoder reads primitive values; failed stays set after the first short read.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.failed = true
		return 0
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) string() string { return string(d.bytes()) }

// bytes returns the text of a string, a part of the record.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return nil
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}
