package value_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/internal/cli/internal/value"
)

func TestDurations(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "168h": 168 * time.Hour, "7d": 168 * time.Hour, "1w": 168 * time.Hour, "1d12h": 36 * time.Hour,
		"1w1d1h1m": 193*time.Hour + time.Minute, "1.5d": 36 * time.Hour, "90m": 90 * time.Minute, "1h1d": 25 * time.Hour, " 7d ": 168 * time.Hour,
	} {
		if got, err := value.Duration(s); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "7", "7.5", "168", "h", "d", "-7d", "-1h", "7 days", "1y", "1dd", "1e3d", "7D", "99999999w", "300y", "1d-5h", "53000d53000d53000d", "53000d53000d53000d53000d53000d"} {
		if got, err := value.Duration(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1B": 1, "1KiB": 1024, "1kb": 1000, "1.5 MiB": 3 << 19, "10GB": 1e10, "2TiB": 2 << 40, "1PiB": 1 << 50} {
		if got, err := value.Size(s); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "100", "1.5", "MiB", "1M", "1iB", "1XB", "-1MiB", "1BB", "9999999PB", "1 2MB"} {
		if got, err := value.Size(s); err == nil {
			t.Errorf("%q is %d, want an error", s, got)
		}
	}
}

// Whatever a flag's value is, its parser answers with a value in bounds or an error.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"7", "7d", "1w2d3h", "1.5GiB", "2026-01-31T00:00:00Z", "\xff", "1e309d", "NaNd", "infw"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := value.Duration(s); err == nil && d < 0 {
			t.Errorf("duration %q is %v", s, d)
		}
		if n, err := value.Size(s); err == nil && n < 0 {
			t.Errorf("size %q is %d", s, n)
		}
		if _, err := value.Time(s); err == nil && !strings.Contains(s, "T") && !strings.Contains(s, "t") {
			t.Errorf("%q is a time", s)
		}
	})
}
