package calendar

import "time"

// TruncDays goes back to the first day of a week (a Monday), month, quarter or year.
func TruncDays(days int64, unit string) int64 {
	t := DayTime(days)
	month := t.Month()
	switch unit {
	case "week":
		return days - int64(t.Weekday()+6)%7
	case "year":
		month = time.January
	case "quarter":
		month = (month-1)/3*3 + 1
	}
	first, _ := calendarDays(t.Year(), int(month), 1)
	return first
}

// TruncMicros goes back to the beginning of a unit, from minutes up by the
// wall clock of zone.
//
// Source: DateTimeUtils.truncTimestamp of Spark 3.5.
func TruncMicros(micros int64, unit string, zone *time.Location) int64 {
	step := map[string]int64{"microsecond": 1, "millisecond": 1000, "second": MicrosPerSecond,
		"minute": 60 * MicrosPerSecond, "hour": 3600 * MicrosPerSecond, "day": MicrosPerDay}[unit]
	wall := ToWall(micros, zone)
	switch unit {
	case "microsecond", "millisecond", "second":
		return FloorDiv(micros, step) * step
	case "minute", "hour", "day":
		cut := FloorDiv(wall, step) * step
		if same := cut - (wall - micros); ToWall(same, zone) == cut {
			return same // with the offset of the time itself, where the clock shows this time twice
		}
		return FromWall(cut, zone)
	}
	return FromWall(TruncDays(FloorDiv(wall, MicrosPerDay), unit)*MicrosPerDay, zone)
}
