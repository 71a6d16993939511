package lake_test

import (
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

func TestDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.0 s", 1500 * time.Millisecond: "1.5 s", 90 * time.Second: "90 s", time.Hour: "60 min",
		26 * time.Hour: "26 h", 168 * time.Hour: "7 days", -time.Second: "-1.0 s"} {
		if got := lake.Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{168 * time.Hour: "168 hours", time.Hour: "1 hour", 90 * time.Minute: "1.5 hours", time.Second: "1s", 0: "0 hours",
		210*time.Hour + 26*time.Minute + 56482816422: "210.45 hours", -90 * time.Minute: "-1.5 hours"} {
		if got := lake.Hours(d); got != want {
			t.Errorf("Hours(%v) = %q, want %q", d, got, want)
		}
	}
}
