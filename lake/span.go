package lake

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Span tells a duration in its largest fitting unit: "12 s", "3 h", "9 days".
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(-d)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// Hours tells a retention in hours, the unit of tables' properties, to a
// hundredth: "168 hours". Less than that, but for 0, is told as Go does.
func Hours(d time.Duration) string {
	switch {
	case d == time.Hour:
		return "1 hour"
	case d != 0 && d.Abs() < time.Hour/100:
		return d.String()
	}
	return strconv.FormatFloat(math.Round(d.Hours()*100)/100, 'f', -1, 64) + " hours"
}
