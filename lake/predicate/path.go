package predicate

import (
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
)

// hiveNull is the directory value that stands for NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// FromPath attributes an untracked file by its directory: every partition
// column of s, by its physical name, must stand exactly once in the path in
// Hive form (name=value, unescaped once), with a value that its type can read.
// Otherwise ok is false, and the partition is unknown.
func FromPath(key lake.Key, s Schema) (values lake.Partition, ok bool) {
	values, ok = FromDir(key.Dir(), s)
	return values, ok && len(values) == len(s.Partition)
}

// FromDir reads the columns that directory dir fixes for the untracked files
// anywhere below it; MayMatch tells whether one of them could match. ok is
// false if no untracked file below dir can be attributed at all. The values
// are in the order of the table's columns.
func FromDir(dir lake.Key, s Schema) (values lake.Partition, ok bool) {
	found := make([]*lake.PartitionValue, len(s.Partition))
	for name := range dir.Components {
		column, value, isHive := strings.Cut(name, "=")
		if !isHive {
			continue
		}
		column, clean := unescape(column)
		for i, c := range s.Partition {
			if column != c.physical() {
				continue
			}
			v, readable := hiveValue(c, value)
			if found[i] != nil || !readable || !clean {
				return nil, false
			}
			found[i] = &v
		}
	}
	for _, v := range found {
		if v != nil {
			values = append(values, *v)
		}
	}
	return values, true
}

func (c Column) physical() string {
	if c.Physical == "" {
		return c.Name
	}
	return c.Physical
}

// hiveValue reads the value part of a directory's name.
func hiveValue(c Column, raw string) (lake.PartitionValue, bool) {
	if raw == hiveNull || raw == "" {
		return lake.PartitionValue{Column: c.Name, Null: true}, true
	}
	text, ok := unescape(raw)
	v := lake.PartitionValue{Column: c.Name, Value: text}
	if !ok {
		return v, false
	}
	t, ok := sql.ParseType(c.Type)
	if !ok {
		return v, false
	}
	// The zone doesn't matter: whether a text is a timestamp is the same in all.
	_, ok = sql.Read(v, t, time.UTC)
	return v, ok
}

// unescape replaces each %XX by its byte, once. A percent sign that begins no
// escape stands for itself; ok is false if it might have been meant as one,
// because a hexadecimal digit follows.
func unescape(s string) (out string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	ok = true
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		switch {
		case i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
		default:
			ok = ok && (i+1 == len(s) || !isHex(s[i+1]))
			b.WriteByte('%')
		}
	}
	return b.String(), ok
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
