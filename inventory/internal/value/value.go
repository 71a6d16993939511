package value

import (
	"bytes"
	"strconv"
	"time"
)

// Times judges instants: those that no object of a lake can bear are unknown.
type Times struct{ Now time.Time }

// firstPlausible is the start of 2001: seconds taken for milliseconds, and zero,
// look like 1970. Source: spec/delta-vacuum.md 5.
var firstPlausible = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// Plausible returns t, or zero for an unknown time.
func (p Times) Plausible(t time.Time) time.Time {
	if t.Before(firstPlausible) || t.After(p.Now) {
		return time.Time{}
	}
	return t
}

// Number reads seconds, milliseconds, microseconds or nanoseconds since 1970.
// From 2001 on until 2100 the four ranges don't meet.
func (p Times) Number(n int64) time.Time {
	const first, last = 978_307_200, 4_102_444_800
	switch {
	case n >= first && n < last:
		return p.Plausible(time.Unix(n, 0).UTC())
	case n >= first*1e3 && n < last*1e3:
		return p.Plausible(time.UnixMilli(n).UTC())
	case n >= first*1e6 && n < last*1e6:
		return p.Plausible(time.UnixMicro(n).UTC())
	case n >= first*1e9 && n < last*1e9:
		return p.Plausible(time.Unix(0, n).UTC())
	}
	return time.Time{}
}

// Text reads a number as above (with a fraction: seconds), an ISO 8601 time
// (UTC where it names no zone), or an RFC 1123 time. All else is unknown.
func (p Times) Text(s []byte) time.Time {
	if len(s) == 0 {
		return time.Time{}
	}
	if t, ok := ISOTime(s); ok {
		return p.Plausible(t)
	}
	if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return p.Number(n)
	}
	if f, err := strconv.ParseFloat(string(s), 64); err == nil && f > 0 && f < 1e11 {
		return p.Number(int64(f*1e3+0.5) * 1e3)
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05.999999999 UTC"} {
		if t, err := time.Parse(layout, string(s)); err == nil && (layout != time.RFC1123 || bytes.HasSuffix(s, []byte(" GMT")) || bytes.HasSuffix(s, []byte(" UTC"))) {
			return p.Plausible(t.UTC())
		}
	}
	return time.Time{}
}

// ISOTime reads YYYY-MM-DD, then optionally T or a space, hh:mm:ss and a
// fraction, then optionally Z, ±hh, ±hhmm or ±hh:mm.
func ISOTime(s []byte) (time.Time, bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	year, ok1 := digits(s[:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return time.Time{}, false
	}
	if len(s) == 10 {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
	}
	if s = s[10:]; len(s) < 9 || s[0] != 'T' && s[0] != ' ' || s[3] != ':' || s[6] != ':' {
		return time.Time{}, false
	}
	hour, ok1 := digits(s[1:3])
	minute, ok2 := digits(s[4:6])
	second, ok3 := digits(s[7:9])
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	nanos, s, ok := fraction(s[9:])
	if !ok {
		return time.Time{}, false
	}
	offset, ok := zone(s)
	if !ok {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second-offset, nanos, time.UTC), true
}

// fraction reads ".d…" with at most nine digits that count.
func fraction(s []byte) (nanos int, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	i, scale := 1, 100_000_000
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		nanos += int(s[i]-'0') * scale
		scale /= 10
	}
	return nanos, s[i:], i > 1
}

// zone reads a zone as seconds east of UTC; none is UTC.
func zone(s []byte) (int, bool) {
	if len(s) == 0 || len(s) == 1 && (s[0] == 'Z' || s[0] == 'z') {
		return 0, true
	}
	sign := 1
	switch s[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	s = s[1:]
	if len(s) == 5 && s[2] == ':' {
		s = []byte{s[0], s[1], s[3], s[4]}
	}
	if len(s) != 2 && len(s) != 4 {
		return 0, false
	}
	hours, ok := digits(s[:2])
	minutes, ok2 := digits(s[2:])
	return sign * (hours*3600 + minutes*60), ok && ok2 && hours < 24 && minutes < 60
}

func digits(s []byte) (n int, ok bool) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// Size reads a number of bytes, -1 if it is none.
func Size(s []byte) int64 {
	if len(s) == 0 || len(s) > 18 {
		return -1
	}
	var n int64
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// Truth reads a boolean as the stores and engines spell it.
func Truth(s []byte) bool {
	switch len(s) {
	case 1:
		return s[0] == '1' || s[0]|0x20 == 't' || s[0]|0x20 == 'y'
	case 3:
		return bytes.EqualFold(s, []byte("yes"))
	case 4:
		return bytes.EqualFold(s, []byte("true"))
	}
	return false
}
