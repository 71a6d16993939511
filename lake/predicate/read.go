package predicate

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake"
)

// read gives a partition value its type. Empty text is NULL. It takes no text
// that the type would have to cut: "1.5" is no int, "2024" no date.
//
// Timestamps without a zone are wall clocks of zone; those with one, such as
// "2024-01-01T00:00:00.000000Z", are instants.
// Source: Delta PROTOCOL.md "Partition Value Serialization".
func read(v lake.PartitionValue, t typ, zone *time.Location) (value, bool) {
	s := v.Value
	if v.Null || s == "" {
		return null, t.kind != kNull
	}
	if !utf8.ValidString(s) || t.kind != kString && t.kind != kBinary && trimAll(s) != s {
		return null, false
	}
	switch t.kind {
	case kString, kBinary:
		return value{s: s}, true
	case kBoolean:
		return boolean(strings.EqualFold(s, "true")), strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	case kByte, kShort, kInt, kLong:
		i, err := strconv.ParseInt(s, 10, 64)
		low, high := integralRange(t)
		return value{i: i}, err == nil && i >= low && i <= high
	case kFloat:
		f, ok := parseFloat(s, 32)
		return value{f: f}, ok
	case kDouble:
		f, ok := parseFloat(s, 64)
		return value{f: f}, ok
	case kDecimal:
		return readDecimal(s, t)
	case kDate:
		days, ok := parseDate(s)
		return value{i: days}, ok && dayShaped(s)
	case kTimestamp, kTimestampNTZ:
		return readTimestamp(s, t, zone)
	}
	return null, false
}

// dayShaped reports whether s is year, month and day and nothing more.
func dayShaped(s string) bool {
	return strings.Count(strings.TrimLeft(s, "+-"), "-") == 2 && !strings.ContainsAny(s, " T:")
}

func readDecimal(s string, t typ) (value, bool) {
	d, scale, ok := parseDecimal(s)
	if !ok {
		return null, false
	}
	v := toDecimal(d, scale, t)
	if v.null {
		return null, false
	}
	exact := rescale(v.d, t.scale, max(scale, t.scale)).Cmp(rescale(d, scale, max(scale, t.scale))) == 0
	return v, exact
}

func readTimestamp(s string, t typ, zone *time.Location) (value, bool) {
	c, ok := parseTimestamp(s)
	date, _, _ := strings.Cut(strings.ReplaceAll(s, "T", " "), " ")
	switch {
	case !ok || !dayShaped(date):
		return null, false
	case t.kind == kTimestamp:
		return value{i: c.instant(zone)}, true
	case c.zone != nil:
		return null, false // a wall clock has no zone
	}
	return value{i: c.wall}, true
}
