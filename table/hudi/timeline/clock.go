package timeline

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// FormatTime returns the instant string of t in a table's zone: 17 digits, to
// the millisecond.
func FormatTime(t time.Time, zone *time.Location) string {
	s := t.In(zone).Format("20060102150405.000")
	return s[:14] + s[15:]
}

// ParseTime reads an instant string of 17 digits, or 14 of older tables, which
// stand for the end of their second.
func ParseTime(s string, zone *time.Location) (time.Time, error) {
	if len(s) == 14 {
		s += "999"
	}
	if len(s) < 17 || !digits(s) {
		return time.Time{}, fmt.Errorf("instant %q is no time", s)
	}
	return time.ParseInLocation("20060102150405.000", s[:14]+"."+s[14:17], zone)
}

// Zone returns the zone in which a table's instants are formatted: UTC if
// hoodie.table.timeline.timezone says so; for LOCAL, the default, the zone that
// the user names, since the table doesn't tell which one its writers have.
//
// Errors: Invalid if it is needed and not given.
func Zone(p Properties, given *time.Location) (*time.Location, error) {
	if strings.EqualFold(p["hoodie.table.timeline.timezone"], "UTC") {
		return time.UTC, nil
	}
	if given != nil {
		return given, nil
	}
	return nil, &lake.Error{Op: "open table", Kind: lake.Invalid, Err: errors.New("the timeline's zone is LOCAL, that of the writers' hosts, which the table doesn't name"),
		Hint: "Name the zone of the writers' hosts with --timeline-zone, for instance UTC."}
}

func errNoFile(i Instant, s State) error {
	return fmt.Errorf("%s.%s has no file for %s", i.Time, i.Action, s)
}
