package calendar

import (
	"strings"
	"time"
)

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
