package meta

import (
	"testing"
	"time"
)

func TestIntervals(t *testing.T) {
	const d = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"interval 1 week": 7 * d, "interval 7 days": 7 * d, "  INTERVAL   2   Days ": 2 * d, "30 days": 30 * d, "interval 1 week 2 days -3 hours": 9*d - 3*time.Hour,
		"interval 0 days": 0, "interval 1.5 seconds": 1500 * time.Millisecond, "interval .5 second": 500 * time.Millisecond, "interval 1. seconds": time.Second,
		"interval 1999 microseconds": time.Millisecond, "interval + 5 minutes": 5 * time.Minute, "interval - 1 hour 2 hours": time.Hour,
		"interval 1.9999999 seconds": 1999 * time.Millisecond, "interval 1 year -12 months 1 day": d, "interval 3 milliseconds": 3 * time.Millisecond,
	} {
		if got, err := parseInterval(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "interval", "interval 1", "interval days", "interval -1 day", "interval 1 month", "interval 1 fortnight", "interval 1day",
		"interval '1' day", "interval 1.5 days", "interval 1.0000000001 seconds", "interval --1 day", "interval 1e3 days", "interval 99999999999999999999 days",
		"interval 1 day extra", "interval .  second", "interval 300000000 days", "interval interval 1 day", "interval 1 nanosecond", "interval + day"} {
		if got, err := parseInterval(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func FuzzInterval(f *testing.F) {
	for _, s := range []string{"interval 1 week", "interval 1 week 2 days -3 hours", "interval .5 second", "30 days", "interval - 1 hour", "interval 9223372036854775807 microseconds"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseInterval(s); err == nil && (d < 0 || d%time.Millisecond != 0) {
			t.Fatalf("%q: %v", s, d)
		}
	})
}

// FuzzActions reads damaged actions; what can be read can be judged.
func FuzzActions(f *testing.F) {
	for _, s := range []string{"", "{}", `{"version":20,"size":1}`, `{"minReaderVersion":3,"readerFeatures":["x"]}`, `{"id":"x","partitionColumns":["p"],"schemaString":"{}"}`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParseProtocol([]byte(s)); err == nil {
			_ = p.Gate()
		}
		if m, err := ParseMetadata([]byte(s)); err == nil {
			_, _ = m.Retention()
			_ = m.Rules(Protocol{})
		}
	})
}
