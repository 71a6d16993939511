package calendar

import "time"

// Lengths, in microseconds.
const (
	MicrosPerSecond = 1_000_000
	MicrosPerDay    = 86_400 * MicrosPerSecond
)

// calendarDays is the number of a day of the proleptic Gregorian calendar.
func calendarDays(year, month, day int) (int64, bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return FloorDiv(t.Unix(), 86_400), t.Day() == day
}

// FloorDiv divides and rounds down. b is positive.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// DayTime is midnight of a day, in UTC.
func DayTime(days int64) time.Time { return time.Unix(days*86_400, 0).UTC() }

// WallTime is the wall clock of an instant in a zone, its fields to be read as they are.
func WallTime(micros int64, zone *time.Location) time.Time { return time.UnixMicro(micros).In(zone) }

// ToWall turns an instant into the wall clock of zone.
func ToWall(micros int64, zone *time.Location) int64 {
	_, offset := time.UnixMicro(micros).In(zone).Zone()
	return micros + int64(offset)*MicrosPerSecond
}

// FromWall turns a wall clock of zone into an instant. Where the clock was set
// back, the earlier instant is meant; where it was set forward, the time is
// moved on by the length of the gap.
//
// Source: java.time.LocalDateTime.atZone, which Spark uses.
func FromWall(wall int64, zone *time.Location) int64 {
	offset := func(micros int64) int64 {
		_, seconds := time.UnixMicro(micros).In(zone).Zone()
		return int64(seconds) * MicrosPerSecond
	}
	before, after := offset(wall-MicrosPerDay), offset(wall+MicrosPerDay)
	if early := wall - before; before == after || offset(early) == before {
		return early
	}
	if late := wall - after; offset(late) == after {
		return late
	}
	return wall - before
}
