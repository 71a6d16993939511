package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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

// FormatDate writes a day as yyyy-mm-dd.
func FormatDate(days int64) string {
	t := DayTime(days)
	return fmt.Sprintf("%s-%02d-%02d", formatYear(t.Year()), t.Month(), t.Day())
}

// FormatTimestamp writes a wall clock, the fraction without trailing zeros.
func FormatTimestamp(t time.Time) string {
	s := fmt.Sprintf("%s-%02d-%02d %02d:%02d:%02d", formatYear(t.Year()), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second())
	if micros := t.Nanosecond() / 1000; micros != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", micros), "0")
	}
	return s
}
