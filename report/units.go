package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bytes tells a size in binary units: "1.5 GiB".
func Bytes(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 999.95 && unit < 4 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGTP"[unit])
}

// Count tells a number with commas: "1,234,567".
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is n with its noun: "1 file", "2 files".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return Count(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return Count(n) + " " + noun + "s"
}

// Printable returns s, quoted as Go quotes it if it holds what a terminal
// would act on or what isn't UTF-8.
func Printable(s string) string {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return strconv.Quote(s)
			}
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return strconv.Quote(s)
		}
	}
	return s
}

// stamp is t in RFC 3339, nil for the zero time.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339Nano)
	return &s
}

// stampCell is stamp for CSV: empty for the zero time.
func stampCell(t time.Time) string {
	if s := stamp(t); s != nil {
		return *s
	}
	return ""
}
