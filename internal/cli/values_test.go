package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/sweep"
)

func TestDurations(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "168h": 168 * time.Hour, "7d": 168 * time.Hour, "1w": 168 * time.Hour, "1d12h": 36 * time.Hour,
		"1w1d1h1m": 193*time.Hour + time.Minute, "1.5d": 36 * time.Hour, "90m": 90 * time.Minute, "1h1d": 25 * time.Hour, " 7d ": 168 * time.Hour,
	} {
		if got, err := parseDuration(s); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "7", "7.5", "168", "h", "d", "-7d", "-1h", "7 days", "1y", "1dd", "1e3d", "7D", "99999999w", "300y", "1d-5h", "53000d53000d53000d", "53000d53000d53000d53000d53000d"} {
		if got, err := parseDuration(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1B": 1, "1KiB": 1024, "1kb": 1000, "1.5 MiB": 3 << 19, "10GB": 1e10, "2TiB": 2 << 40, "1PiB": 1 << 50} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "100", "1.5", "MiB", "1M", "1iB", "1XB", "-1MiB", "1BB", "9999999PB", "1 2MB"} {
		if got, err := parseSize(s); err == nil {
			t.Errorf("%q is %d, want an error", s, got)
		}
	}
}

func TestMaps(t *testing.T) {
	for s, want := range map[string]sweep.Map{
		"s3://a/b=s3://c/d":        {From: "s3://a/b", To: "s3://c/d"},
		"s3a://=s3://":             {From: "s3a://", To: "s3://"},
		"s3://a/day=1=file:///x":   {From: "s3://a/day=1", To: "file:///x"},
		"s3://a=file:///x/day=1/y": {From: "s3://a", To: "file:///x/day=1/y"},
		"/old=/new":                {From: "/old", To: "/new"},
	} {
		if got, err := parseMap(s); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "=", "a", "=b", "a=", "a=b=c", "s3://a=s3://b=s3://c"} {
		if got, err := parseMap(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

// Whatever a flag's value is, its parser answers with a value in bounds or an error.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"7", "7d", "1w2d3h", "1.5GiB", "s3://a/p=1=s3://b", "path=a,size=b", "2026-01-31T00:00:00Z", "\xff", "1e309d", "NaNd", "infw"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseDuration(s); err == nil && d < 0 {
			t.Errorf("duration %q is %v", s, d)
		}
		if n, err := parseSize(s); err == nil && n < 0 {
			t.Errorf("size %q is %d", s, n)
		}
		if m, err := parseMap(s); err == nil && m.From+"="+m.To != s {
			t.Errorf("map %q is %v", s, m)
		}
		if columns, err := parseColumns(s); err == nil && len(columns) != strings.Count(s, ",")+1 {
			t.Errorf("columns %q are %v", s, columns)
		}
		if _, err := parseTime(s); err == nil && !strings.Contains(s, "T") && !strings.Contains(s, "t") {
			t.Errorf("%q is a time", s)
		}
		shellQuote(s)
	})
}

// FuzzSettings: a settings file is read or refused, and never read in part.
func FuzzSettings(f *testing.F) {
	f.Add("mode = full\n# x\n\nyes=true\n")
	f.Add("mode")
	f.Add("keep-version = 1\nkeep-version = 2")
	known := map[string]bool{"mode": false, "yes": false, "keep-version": true}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSettings(strings.NewReader(text), "f", known)
		if err != nil {
			return
		}
		n := 0
		for flag, values := range s {
			if _, ok := known[flag]; !ok {
				t.Errorf("%q was taken for a flag", flag)
			}
			n += len(values)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "#") {
				lines++
			}
		}
		if n != lines {
			t.Errorf("%d values of %d lines in %q", n, lines, text)
		}
	})
}
