package calendar

import (
	"strings"
	"time"
)

// TrimAll drops white space and control characters at both ends, as Spark's
// casts from strings do.
func TrimAll(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// ParseDate reads yyyy, yyyy-m and yyyy-m-d, the last with anything after a
// space or a T.
//
// Source: SparkDateTimeUtils.stringToDate of Spark 3.5.
func ParseDate(s string) (days int64, ok bool) {
	s = TrimAll(s)
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	date, rest := s, ""
	if i := strings.IndexAny(s, " T"); i >= 0 {
		date, rest = s[:i], s[i:]
	}
	parts := strings.Split(date, "-")
	if len(parts) > 3 || len(parts) < 3 && rest != "" {
		return 0, false
	}
	n := [3]int{1, 1, 1}
	for i, part := range parts {
		width := [2]int{1, 2}
		if i == 0 {
			width = [2]int{4, 7}
		}
		if n[i], ok = digits(part, width[0], width[1]); !ok {
			return 0, false
		}
	}
	return calendarDays(sign*n[0], n[1], n[2])
}

// digits reads an unsigned number of least to most digits.
func digits(s string, least, most int) (int, bool) {
	if len(s) < least || len(s) > most {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// Clock is a timestamp as it was written.
type Clock struct {
	Wall int64          // microseconds of the wall clock
	Zone *time.Location // nil where none was written
}

// Instant is the moment meant, in zone unless another is written.
func (c Clock) Instant(zone *time.Location) int64 {
	if c.Zone != nil {
		zone = c.Zone
	}
	return FromWall(c.Wall, zone)
}

// ParseTimestamp reads a date, optionally followed by a space or T and
// h, h:m or h:m:s[.fraction][zone]. Digits after the sixth of the fraction
// don't count. A time without a date is refused, for Spark would mean today.
//
// Source: SparkDateTimeUtils.parseTimestampString of Spark 3.5.
func ParseTimestamp(s string) (Clock, bool) {
	s = TrimAll(s)
	date, rest := s, ""
	if i := strings.IndexAny(s, " T"); i > 0 {
		date, rest = s[:i], s[i+1:]
		if strings.Count(strings.TrimLeft(date, "+-"), "-") != 2 {
			return Clock{}, false
		}
	}
	if year, _, _ := strings.Cut(strings.TrimLeft(date, "+-"), "-"); len(year) > 6 {
		return Clock{}, false
	}
	days, ok := ParseDate(date)
	if !ok || len(date) == len(s) {
		return Clock{Wall: days * MicrosPerDay}, ok
	}
	micros, zone, ok := parseClock(rest)
	return Clock{Wall: days*MicrosPerDay + micros, Zone: zone}, ok
}

// parseClock reads h, h:m or h:m:s[.fraction][zone].
func parseClock(s string) (micros int64, zone *time.Location, ok bool) {
	var n [3]int
	for i := range n {
		end := 0
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if n[i], ok = digits(s[:end], 1, 2); !ok {
			return 0, nil, false
		}
		s = s[end:]
		if s == "" || i == 2 {
			break
		}
		if s[0] != ':' {
			return 0, nil, false
		}
		s = s[1:]
	}
	if n[0] > 23 || n[1] > 59 || n[2] > 59 {
		return 0, nil, false
	}
	micros = int64(n[0]*3600+n[1]*60+n[2]) * MicrosPerSecond
	if s != "" && s[0] == '.' {
		end := 1
		for unit := int64(MicrosPerSecond / 10); end < len(s) && s[end] >= '0' && s[end] <= '9'; end, unit = end+1, unit/10 {
			micros += int64(s[end]-'0') * unit
		}
		s = s[end:]
	}
	if s == "" {
		return micros, nil, true
	}
	zone, ok = parseZone(strings.TrimSpace(s))
	return micros, zone, ok
}
