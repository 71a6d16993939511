package sql

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
)

// Read gives a partition value its type. Empty text is NULL. It takes no text
// that the type would have to cut: "1.5" is no int, "2024" no date.
//
// Timestamps without a zone are wall clocks of zone; those with one, such as
// "2024-01-01T00:00:00.000000Z", are instants.
// Source: Delta PROTOCOL.md "Partition Value Serialization".
func Read(v lake.PartitionValue, t Type, zone *time.Location) (Value, bool) {
	s := v.Value
	if v.Null || s == "" {
		return Null, t.Kind != Void
	}
	if !utf8.ValidString(s) || t.Kind != String && t.Kind != Binary && calendar.TrimAll(s) != s {
		return Null, false
	}
	switch t.Kind {
	case String, Binary:
		return Value{S: s}, true
	case Boolean:
		return Bool(strings.EqualFold(s, "true")), strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	case Byte, Short, Int, Long:
		i, err := strconv.ParseInt(s, 10, 64)
		low, high := integralRange(t)
		return Value{I: i}, err == nil && i >= low && i <= high
	case Float:
		f, ok := parseFloat(s, 32)
		return Value{F: f}, ok
	case Double:
		f, ok := parseFloat(s, 64)
		return Value{F: f}, ok
	case Decimal:
		return readDecimal(s, t)
	case Date:
		days, ok := calendar.ParseDate(s)
		return Value{I: days}, ok && dayShaped(s)
	case Timestamp, TimestampNTZ:
		return readTimestamp(s, t, zone)
	}
	return Null, false
}

// dayShaped reports whether s is year, month and day and nothing more.
func dayShaped(s string) bool {
	return strings.Count(strings.TrimLeft(s, "+-"), "-") == 2 && !strings.ContainsAny(s, " T:")
}

func readDecimal(s string, t Type) (Value, bool) {
	d, scale, ok := parseDecimal(s)
	if !ok {
		return Null, false
	}
	v := toDecimal(d, scale, t)
	if v.Null {
		return Null, false
	}
	exact := rescale(v.D, t.Scale, max(scale, t.Scale)).Cmp(rescale(d, scale, max(scale, t.Scale))) == 0
	return v, exact
}

func readTimestamp(s string, t Type, zone *time.Location) (Value, bool) {
	c, ok := calendar.ParseTimestamp(s)
	date, _, _ := strings.Cut(strings.ReplaceAll(s, "T", " "), " ")
	switch {
	case !ok || !dayShaped(date):
		return Null, false
	case t.Kind == Timestamp:
		return Value{I: c.Instant(zone)}, true
	case c.Zone != nil:
		return Null, false // a wall clock has no zone
	}
	return Value{I: c.Wall}, true
}
