package lex

import (
	"strconv"
	"strings"
)

// quotedString reads the literal whose quote stands at open; pos is where the token begins.
//
// Source: ParserUtils.unescapeSQLString of Spark 3.5. A doubled quote is one
// literal after another in Spark 3 and a quote in Spark 4, so it is refused.
func quotedString(text string, pos, open int) (Token, error) {
	quote := text[open]
	var s strings.Builder
	for i := open + 1; i < len(text); {
		switch c := text[i]; {
		case c == quote:
			if i+1 < len(text) && text[i+1] == quote {
				return Token{}, &Error{i, "a doubled quote means different things to Spark 3 and Spark 4: write \\" + string(quote)}
			}
			return Token{String, s.String(), pos, i + 1}, nil
		case c == '\\' && i+1 < len(text):
			i += escape(&s, text[i:])
		default:
			s.WriteByte(c)
			i++
		}
	}
	return Token{}, &Error{pos, "this quote has no partner"}
}

// escape writes what the escape sequence at the beginning of text means and returns its length.
func escape(s *strings.Builder, text string) int {
	for _, u := range []struct {
		mark   byte
		digits int
	}{{'u', 4}, {'U', 8}} {
		if text[1] == u.mark && len(text) >= 2+u.digits {
			if r, err := strconv.ParseUint(text[2:2+u.digits], 16, 32); err == nil && r <= 0x10ffff {
				s.WriteRune(rune(r))
				return 2 + u.digits
			}
		}
	}
	if len(text) >= 4 && text[1] >= '0' && text[1] <= '1' {
		if r, err := strconv.ParseUint(text[1:4], 8, 8); err == nil {
			s.WriteRune(rune(r))
			return 4
		}
	}
	switch c := text[1]; c {
	case '0':
		s.WriteByte(0)
	case 'b':
		s.WriteByte('\b')
	case 'n':
		s.WriteByte('\n')
	case 'r':
		s.WriteByte('\r')
	case 't':
		s.WriteByte('\t')
	case 'Z':
		s.WriteByte(0x1a)
	case '%', '_': // LIKE wants to see the backslash
		s.WriteString(text[:2])
	default: // of a character of several bytes the first; the others follow as they are
		s.WriteByte(c)
	}
	return 2
}

// rawString reads r'…' and r"…", in which backslashes are plain characters.
func rawString(text string, pos int) (Token, error) {
	body := text[pos+2:]
	end := strings.IndexByte(body, text[pos+1])
	if end < 0 {
		return Token{}, &Error{pos, "this quote has no partner"}
	}
	return Token{String, body[:end], pos, pos + 2 + end + 1}, nil
}
