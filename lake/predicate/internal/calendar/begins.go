package calendar

import "strings"

// Begins bounds the days, low <= day < high, that ParseDate reads from texts
// that begin with prefix, of which the year must be whole. What follows it, if
// anything, begins with next.
func Begins(prefix, next string) (low, high int64, ok bool) {
	year, rest, dashed := strings.Cut(prefix, "-")
	n, ok := digits(year, 4, 4)
	if !ok || !dashed && !strings.HasPrefix(next, "-") {
		return 0, 0, false
	}
	first, last := 1, 12
	if month, _, whole := strings.Cut(rest, "-"); whole || strings.HasPrefix(next, "-") && rest != "" {
		if m, ok := digits(month, 1, 2); ok && m >= 1 && m <= 12 {
			first, last = m, m
		}
	}
	return months(n, first, last)
}

// months is all days from one month of a year to another.
func months(year, first, last int) (low, high int64, ok bool) {
	low, _ = calendarDays(year, first, 1)
	high, _ = calendarDays(year+last/12, last%12+1, 1)
	return low, high, true
}
