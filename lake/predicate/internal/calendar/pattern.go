package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Pattern is a pattern of java.time.format.DateTimeFormatter, cut into fields.
type Pattern []field

// field is a run of one pattern letter, or text between them (letter 0).
type field struct {
	letter byte
	width  int
	text   string
}

// ReadPattern reads a pattern: letters y M d H m s S and text. Others are
// refused, they differ between versions of Java: refused says which, "" if none.
func ReadPattern(s string) (p Pattern, refused string) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			width := 1
			for i+width < len(s) && s[i+width] == c {
				width++
			}
			f := field{letter: c, width: width}
			if !f.supported() {
				return nil, fmt.Sprintf("%q", strings.Repeat(string(c), width))
			}
			p = append(p, f)
			i += width
		case c == '\'':
			text, length := quotedText(s[i:])
			if length == 0 {
				return nil, "an open quote"
			}
			p = append(p, field{text: text})
			i += length
		case strings.IndexByte("[]{}#", c) >= 0:
			return nil, fmt.Sprintf("%q", c)
		default:
			p = append(p, field{text: string(c)})
			i++
		}
	}
	return p, ""
}

// quotedText reads text in single quotes; two in a row are one quote.
func quotedText(s string) (text string, length int) {
	if strings.HasPrefix(s, "''") {
		return "'", 2
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			out.WriteByte(s[i])
		} else if i+1 < len(s) && s[i+1] == '\'' {
			out.WriteByte('\'')
			i++
		} else {
			return out.String(), i + 1
		}
	}
	return "", 0
}

func (f field) supported() bool {
	switch f.letter {
	case 'y':
		return f.width == 4 || f.width == 2
	case 'M', 'd', 'H', 'm', 's':
		return f.width <= 2
	case 'S':
		return f.width <= 6
	}
	return false
}

// of is the field's value at a time.
func (f field) of(t time.Time) int {
	switch f.letter {
	case 'y':
		if f.width == 2 {
			return t.Year() % 100
		}
		return t.Year()
	case 'M':
		return int(t.Month())
	case 'd':
		return t.Day()
	case 'H':
		return t.Hour()
	case 'm':
		return t.Minute()
	case 's':
		return t.Second()
	}
	micros := t.Nanosecond() / 1000
	for range 6 - f.width {
		micros /= 10
	}
	return micros
}

// Format writes a wall clock of a year from 1 to 9999.
func (p Pattern) Format(t time.Time) string {
	var s strings.Builder
	for _, f := range p {
		if f.letter == 0 {
			s.WriteString(f.text)
		} else {
			fmt.Fprintf(&s, "%0*d", f.width, f.of(t))
		}
	}
	return s.String()
}

// Parsable returns why the pattern can't be read by, "" if it can: it needs a
// year, and fields of open width must not touch another number.
func (p Pattern) Parsable() string {
	seen := map[byte]bool{}
	for i, f := range p {
		if f.letter == 0 {
			continue
		}
		if seen[f.letter] {
			return fmt.Sprintf("the pattern names %q twice", f.letter)
		}
		seen[f.letter] = true
		if f.open() && (i > 0 && p[i-1].letter != 0 || i+1 < len(p) && p[i+1].letter != 0) {
			return fmt.Sprintf("the number %q has no fixed width and touches another: double the letter", f.letter)
		}
		if f.letter == 'S' && i+1 < len(p) && p[i+1].letter != 0 {
			return "a fraction must not touch another number"
		}
	}
	if !seen['y'] {
		return "the pattern has no year"
	}
	return ""
}

// open reports whether the field takes as many digits as there are.
func (f field) open() bool { return f.letter != 'S' && f.width == 1 }

// Parse reads a wall clock. Missing fields are those of midnight, 1 January.
func (p Pattern) Parse(s string) (micros int64, ok bool) {
	got := map[byte]int{'M': 1, 'd': 1}
	for _, f := range p {
		if f.letter == 0 {
			if s, ok = strings.CutPrefix(s, f.text); !ok {
				return 0, false
			}
			continue
		}
		width := f.width
		if f.open() {
			for width = 0; width < len(s) && width < 19 && s[width] >= '0' && s[width] <= '9'; {
				width++
			}
		}
		if width > len(s) {
			return 0, false
		}
		if got[f.letter], ok = digits(s[:width], 1, 19); !ok {
			return 0, false
		}
		switch {
		case f.letter == 'y' && f.width == 2:
			got['y'] += 2000
		case f.letter == 'S':
			for range 6 - f.width {
				got['S'] *= 10
			}
		}
		s = s[width:]
	}
	days, ok := calendarDays(got['y'], got['M'], got['d'])
	if !ok || s != "" || got['y'] < 1 || got['H'] > 23 || got['m'] > 59 || got['s'] > 59 {
		return 0, false
	}
	seconds := int64(got['H']*3600 + got['m']*60 + got['s'])
	return days*MicrosPerDay + seconds*MicrosPerSecond + int64(got['S']), true
}

// Begins bounds the days, low <= day < high, that p reads from texts that begin
// with prefix, if p begins with the year, perhaps followed by the month.
func (p Pattern) Begins(prefix string) (low, high int64, ok bool) {
	if p[0].letter != 'y' || p[0].width != 4 || len(prefix) < 4 {
		return 0, 0, false
	}
	year, ok := digits(prefix[:4], 4, 4)
	if !ok {
		return 0, 0, false
	}
	rest := prefix[4:]
	for _, f := range p[1:] {
		if f.letter == 0 {
			if rest, ok = strings.CutPrefix(rest, f.text); !ok {
				break
			}
			continue
		}
		if f.letter == 'M' && f.width == 2 && len(rest) >= 2 {
			if m, ok := digits(rest[:2], 2, 2); ok && m >= 1 && m <= 12 {
				return months(year, m, m)
			}
		}
		break
	}
	return months(year, 1, 12)
}
