package value

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration reads Go's durations and adds d (24 hours) and w (7 days), as
// in "1d12h". A number needs its unit; only "0" does without.
func Duration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "0.") != "" {
		return 0, fmt.Errorf("%q has no unit: write %sd for days or %sh for hours", s, text, text)
	}
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is negative", s)
	}
	total := time.Duration(0)
	rest := text
	for {
		i := strings.IndexAny(rest, "dw")
		if i < 0 {
			break
		}
		unit := 24 * time.Hour
		if rest[i] == 'w' {
			unit *= 7
		}
		// What stands before the number of days or weeks is Go's: "1h2d".
		start := strings.LastIndexFunc(rest[:i], func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) + 1
		n, err := strconv.ParseFloat(rest[start:i], 64)
		if err != nil || n*float64(unit) > math.MaxInt64/2-float64(total) {
			return 0, durationError(s)
		}
		total += time.Duration(n * float64(unit))
		rest = rest[:start] + rest[i+1:]
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > math.MaxInt64-total {
			return 0, durationError(s)
		}
		total += d
	}
	if total == 0 && text == "" || total < 0 {
		return 0, durationError(s)
	}
	return total, nil
}

func durationError(s string) error {
	return fmt.Errorf("%q is no duration: write 168h, 7d or 1w", s)
}

// Size reads bytes with a unit: B, KB, MB, GB, TB, PB (powers of 1000) or
// KiB … PiB (powers of 1024). Case doesn't matter.
func Size(s string) (int64, error) {
	text := strings.TrimSpace(s)
	split := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if split < 0 {
		if text != "" && strings.Trim(text, "0") == "" {
			return 0, nil
		}
		return 0, fmt.Errorf("%q has no unit: write %sMiB, %sGB or %sB", s, text, text, text)
	}
	n, err := strconv.ParseFloat(text[:split], 64)
	unit := strings.ToUpper(strings.TrimSpace(text[split:]))
	base := 1000.0
	if strings.HasSuffix(unit, "IB") {
		base, unit = 1024, strings.TrimSuffix(unit, "IB")+"B"
	}
	power := strings.Index("BKMGTP", strings.TrimSuffix(unit, "B"))
	switch {
	case unit == "B" && base == 1000:
		power = 0
	case err != nil || len(unit) != 2 || unit[1] != 'B' || power < 1:
		return 0, fmt.Errorf("%q is no size: write 512MiB or 10GB", s)
	}
	bytes := n * math.Pow(base, float64(power))
	if bytes > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return int64(bytes), nil
}

// AboveZero makes a parser refuse 0, which would be no limit instead of the
// tightest one.
func AboveZero[T cmp.Ordered](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		var zero T
		v, err := parse(s)
		if err == nil && v <= zero {
			err = fmt.Errorf("%q must be more than 0, or the flag left out", s)
		}
		return v, err
	}
}

// Time reads RFC 3339.
func Time(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no RFC 3339 time: write 2026-01-31T00:00:00Z", s)
	}
	return t.UTC(), nil
}

// HasScheme reports whether a text begins with "scheme://".
func HasScheme(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && scheme != "" && strings.IndexFunc(scheme, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	}) < 0
}

// Verbatim takes any text but an empty one: an unset variable of a script must
// not turn a wish into none.
func Verbatim(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", errors.New("it is empty: give a value, or leave the flag out")
	}
	return s, nil
}

// LocalFile takes the name of a file or folder on this machine.
func LocalFile(s string) (string, error) {
	if HasScheme(s) {
		return "", fmt.Errorf("%q is a URI, but a local file is wanted: write to a local one and copy it, or copy it here first", s)
	}
	return Verbatim(s)
}

// OneOf returns a parser for one of a few words.
func OneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if s == w {
				return s, nil
			}
		}
		return "", fmt.Errorf("%q is none of %s", s, strings.Join(words, ", "))
	}
}

// Rate reads a positive number a second.
func Rate(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is no rate per second", s)
	}
	return f, nil
}

// Count reads a positive number.
func Count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 on", s)
	}
	return n, nil
}

// Objects reads a positive number of objects.
func Objects(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of objects from 1 on", s)
	}
	return n, nil
}
