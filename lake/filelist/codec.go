package filelist

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// appendVerdict appends the one binary form of v: what the digest covers and
// what a Sorter spills. Strings are preceded by their length, instants are
// seconds and nanoseconds, each kept apart from "unknown" by a flag.
func appendVerdict(b []byte, v *lake.Verdict) []byte {
	var flags byte
	for i, set := range [...]bool{v.Directory, v.Partition != nil, !v.Modified.IsZero(), !v.Tombstone.IsZero(), !v.DueAt.IsZero()} {
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

// decodeVerdict reads one record that appendVerdict wrote.
func decodeVerdict(b []byte) (lake.Verdict, error) {
	d := decoder{rest: b}
	flags := d.byte()
	v := lake.Verdict{Directory: flags&1 != 0, Key: lake.Key(d.string()), URI: d.string(), Size: d.varint(), Reason: lake.Reason(d.string()), ETag: d.string()}
	for i, t := range [...]*time.Time{&v.Modified, &v.Tombstone, &v.DueAt} {
		if flags&(4<<i) != 0 {
			*t = time.Unix(d.varint(), int64(d.uvarint())).UTC()
		}
	}
	if flags&2 != 0 {
		n := d.uvarint()
		v.Partition = make(lake.Partition, 0, min(n, 64))
		for range n {
			if d.failed {
				break
			}
			v.Partition = append(v.Partition, lake.PartitionValue{Column: d.string(), Value: d.string(), Null: d.byte() != 0})
		}
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

func (d *decoder) string() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}
