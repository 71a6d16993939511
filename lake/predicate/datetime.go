package predicate

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

func (o Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

// trimAll drops white space and control characters at both ends, as Spark's
// casts from strings do.
func trimAll(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// calendarDays is the number of a day of the proleptic Gregorian calendar.
func calendarDays(year, month, day int) (int64, bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return floorDiv(t.Unix(), 86_400), t.Day() == day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// dayTime is midnight of a day, in UTC.
func dayTime(days int64) time.Time { return time.Unix(days*86_400, 0).UTC() }

// wallTime is the wall clock of an instant in a zone, its fields to be read as they are.
func wallTime(micros int64, zone *time.Location) time.Time { return time.UnixMicro(micros).In(zone) }

// toWall turns an instant into the wall clock of zone.
func toWall(micros int64, zone *time.Location) int64 {
	_, offset := time.UnixMicro(micros).In(zone).Zone()
	return micros + int64(offset)*microsPerSecond
}

// fromWall turns a wall clock of zone into an instant. Where the clock was set
// back, the earlier instant is meant; where it was set forward, the time is
// moved on by the length of the gap.
//
// Source: java.time.LocalDateTime.atZone, which Spark uses.
func fromWall(wall int64, zone *time.Location) int64 {
	offset := func(micros int64) int64 {
		_, seconds := time.UnixMicro(micros).In(zone).Zone()
		return int64(seconds) * microsPerSecond
	}
	before, after := offset(wall-microsPerDay), offset(wall+microsPerDay)
	if early := wall - before; before == after || offset(early) == before {
		return early
	}
	if late := wall - after; offset(late) == after {
		return late
	}
	return wall - before
}

// parseDate reads yyyy, yyyy-m and yyyy-m-d, the last with anything after a
// space or a T.
//
// Source: SparkDateTimeUtils.stringToDate of Spark 3.5.
func parseDate(s string) (days int64, ok bool) {
	s = trimAll(s)
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

// clock is a timestamp as it was written.
type clock struct {
	wall int64          // microseconds of the wall clock
	zone *time.Location // nil where none was written
}

// instant is the moment meant, in zone unless another is written.
func (c clock) instant(zone *time.Location) int64 {
	if c.zone != nil {
		zone = c.zone
	}
	return fromWall(c.wall, zone)
}

// parseTimestamp reads a date, optionally followed by a space or T and
// h, h:m or h:m:s[.fraction][zone]. Digits after the sixth of the fraction
// don't count. A time without a date is refused, for Spark would mean today.
//
// Source: SparkDateTimeUtils.parseTimestampString of Spark 3.5.
func parseTimestamp(s string) (clock, bool) {
	s = trimAll(s)
	date, rest := s, ""
	if i := strings.IndexAny(s, " T"); i > 0 {
		date, rest = s[:i], s[i+1:]
		if strings.Count(strings.TrimLeft(date, "+-"), "-") != 2 {
			return clock{}, false
		}
	}
	if year, _, _ := strings.Cut(strings.TrimLeft(date, "+-"), "-"); len(year) > 6 {
		return clock{}, false
	}
	days, ok := parseDate(date)
	if !ok || len(date) == len(s) {
		return clock{wall: days * microsPerDay}, ok
	}
	micros, zone, ok := parseClock(rest)
	return clock{wall: days*microsPerDay + micros, zone: zone}, ok
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
	micros = int64(n[0]*3600+n[1]*60+n[2]) * microsPerSecond
	if s != "" && s[0] == '.' {
		end := 1
		for unit := int64(microsPerSecond / 10); end < len(s) && s[end] >= '0' && s[end] <= '9'; end, unit = end+1, unit/10 {
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

// parseZone reads Z, UTC, GMT, UT, an offset, one of these with an offset, or
// the name of a region.
func parseZone(s string) (*time.Location, bool) {
	offset := s
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			offset = rest
			break
		}
	}
	if s == "Z" || s != "" && offset == "" {
		return time.UTC, true
	}
	if offset != "" && (offset[0] == '+' || offset[0] == '-') {
		return parseOffset(offset)
	}
	if !strings.Contains(s, "/") { // no short names: they mean other things to Java
		return nil, false
	}
	zone, err := time.LoadLocation(s)
	return zone, err == nil
}

// parseOffset reads ±h, ±hh, ±h:m, ±hh:mm, ±hh:mm:ss, ±hhmm and ±hhmmss, up to 18 hours.
func parseOffset(s string) (*time.Location, bool) {
	seconds, unit := 0, 3600
	parts := strings.Split(s[1:], ":")
	if n := len(s) - 1; len(parts) == 1 && (n == 4 || n == 6) {
		parts = []string{s[1:3], s[3:5], s[5:]}[:n/2]
	}
	if len(parts) > 3 {
		return nil, false
	}
	for i, part := range parts {
		n, ok := digits(part, 1, 2)
		if !ok || i > 0 && n > 59 || i == 2 && len(part) < 2 {
			return nil, false
		}
		seconds += n * unit
		unit /= 60
	}
	if seconds > 18*3600 {
		return nil, false
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(s, seconds), true
}

// formatYear writes a year as Spark's casts do: four digits, a sign where needed.
func formatYear(year int) string {
	switch {
	case year < 0:
		return fmt.Sprintf("-%04d", -year)
	case year > 9999:
		return "+" + strconv.Itoa(year)
	}
	return fmt.Sprintf("%04d", year)
}

func formatDate(days int64) string {
	t := dayTime(days)
	return fmt.Sprintf("%s-%02d-%02d", formatYear(t.Year()), t.Month(), t.Day())
}

// formatTimestamp writes a wall clock, the fraction without trailing zeros.
func formatTimestamp(t time.Time) string {
	s := fmt.Sprintf("%s-%02d-%02d %02d:%02d:%02d", formatYear(t.Year()), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second())
	if micros := t.Nanosecond() / 1000; micros != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", micros), "0")
	}
	return s
}
