package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/report"
	"github.com/lakesweep/lakesweep/sweep"
)

// parseDuration reads Go's durations and adds d (24 hours) and w (7 days), as
// in "1d12h". A number needs its unit; only "0" does without.
func parseDuration(s string) (time.Duration, error) {
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

// parseSize reads bytes with a unit: B, KB, MB, GB, TB, PB (powers of 1000) or
// KiB … PiB (powers of 1024). Case doesn't matter.
func parseSize(s string) (int64, error) {
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

// aboveZero makes a parser refuse 0, which would be no limit instead of the
// tightest one.
func aboveZero[T cmp.Ordered](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		var zero T
		v, err := parse(s)
		if err == nil && v <= zero {
			err = fmt.Errorf("%q must be more than 0, or the flag left out", s)
		}
		return v, err
	}
}

// parseTime reads RFC 3339.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no RFC 3339 time: write 2026-01-31T00:00:00Z", s)
	}
	return t.UTC(), nil
}

// parseMap reads FROM=TO. It is split at the '=' that a "scheme://" follows,
// at the only '=' if there is none such.
func parseMap(s string) (sweep.Map, error) {
	at := -1
	for i := range len(s) {
		if s[i] != '=' || !startsWithScheme(s[i+1:]) {
			continue
		}
		if at >= 0 {
			return sweep.Map{}, fmt.Errorf("%q has two places to split at", s)
		}
		at = i
	}
	if at < 0 && strings.Count(s, "=") == 1 {
		at = strings.IndexByte(s, '=')
	}
	if at <= 0 || at == len(s)-1 {
		return sweep.Map{}, fmt.Errorf("%q is no FROM=TO such as s3://old/t=s3://new/t", s)
	}
	return sweep.Map{From: s[:at], To: s[at+1:]}, nil
}

func startsWithScheme(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && scheme != "" && strings.IndexFunc(scheme, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	}) < 0
}

// parseColumns reads path=NAME,size=NAME,… with the words of package inventory.
func parseColumns(s string) (map[string]string, error) {
	columns := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		role, name, ok := strings.Cut(part, "=")
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("%q is no list such as path=key,size=bytes,modified=mtime", s)
		case columns[role] != "":
			return nil, fmt.Errorf("%s is given twice", role)
		}
		if words := inventory.ColumnWords(); !slices.Contains(words, role) {
			return nil, fmt.Errorf("%q is none of %s", role, strings.Join(words, ", "))
		}
		columns[role] = name
	}
	return columns, nil
}

// value is a flag of any type: it implements pflag.Value by a parse function.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	kind  string // the word that help shows for the value
	text  string
}

func newValue[T any](to *T, kind string, parse func(string) (T, error)) *value[T] {
	return &value[T]{to: to, parse: parse, kind: kind}
}

func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.text = t, s
	return nil
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.kind }

// values is a flag that can be given several times.
type values[T any] struct {
	to    *[]T
	parse func(string) (T, error)
	kind  string
	texts []string
}

func newValues[T any](to *[]T, kind string, parse func(string) (T, error)) *values[T] {
	return &values[T]{to: to, parse: parse, kind: kind}
}

func (v *values[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.texts = append(*v.to, t), append(v.texts, s)
	return nil
}

func (v *values[T]) String() string { return strings.Join(v.texts, " ") }
func (v *values[T]) Type() string   { return v.kind }

// repeats marks the flags that environment and settings may hold several of.
type repeats interface{ repeats() }

func (v *values[T]) repeats() {}

// verbatim takes any text but an empty one: an unset variable of a script must
// not turn a wish into none.
func verbatim(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", errors.New("it is empty: give a value, or leave the flag out")
	}
	return s, nil
}

// localFile takes the name of a file or folder on this machine.
func localFile(s string) (string, error) {
	if startsWithScheme(s) {
		return "", fmt.Errorf("%q is a URI, but a local file is wanted: write to a local one and copy it, or copy it here first", s)
	}
	return verbatim(s)
}

// oneOf returns a parser for one of a few words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if s == w {
				return s, nil
			}
		}
		return "", fmt.Errorf("%q is none of %s", s, strings.Join(words, ", "))
	}
}

// parsePolicy reads a policy in our words or Hudi's, in any case.
// Source: apache/hudi, HoodieCleaningPolicy.
func parsePolicy(s string) (string, error) {
	name := strings.ReplaceAll(strings.ToLower(s), "_", "-")
	switch name {
	case "keep-latest-commits", "keep-latest-by-hours", "keep-latest-file-versions":
		name = strings.NewReplacer("keep-", "", "by-", "", "file-", "").Replace(name)
	}
	return oneOf("latest-commits", "latest-hours", "latest-versions")(name)
}

func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return nil, errors.New("it is empty: give a value, or leave the flag out")
	}
	z, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone such as UTC or Europe/Berlin", s)
	}
	return z, nil
}

func parseVersion(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no version number", s)
	}
	return n, nil
}

func parseRate(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is no rate per second", s)
	}
	return f, nil
}

// parseCount reads a positive number.
func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 on", s)
	}
	return n, nil
}

// parseObjects reads a positive number of objects.
func parseObjects(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of objects from 1 on", s)
	}
	return n, nil
}

func parseOutput(s string) (report.Format, error) { return report.ParseFormat(s) }
