package logline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks one JSON text strictly (RFC 8259) and hands out the members
// its caller wants; everything else is checked and skipped. The first fault
// sticks in err, and every later call returns at once.
//
// It exists for speed: a commit line is read in one pass without building
// anything but the strings that are kept.
type scanner struct {
	b   []byte
	i   int
	err error
}

// maxDepth bounds the nesting of skipped values.
const maxDepth = 1000

var (
	errSyntax = errors.New("not valid JSON")
	errDup    = errors.New("a member stands twice")
	errType   = errors.New("a value of the wrong type")
)

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.i = len(s.b)
}

// space skips white space and returns the byte it stops at, 0 at the end.
func (s *scanner) space() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte) bool {
	if s.space() != c {
		s.fail(errSyntax)
		return false
	}
	s.i++
	return true
}

// member moves to the next member of an object and returns its name; the scanner then
// stands before the value. first is true right after '{'. ok is false after
// the last member, or after a fault.
func (s *scanner) member(first bool) (name []byte, ok bool) {
	c := s.space()
	switch {
	case c == '}':
		s.i++
		return nil, false
	case first:
	case c != ',':
		s.fail(errSyntax)
		return nil, false
	default:
		s.i++
		if s.space() == '}' {
			s.fail(errSyntax)
			return nil, false
		}
	}
	raw, escaped := s.rawString()
	if escaped {
		raw = s.unescape(raw)
	}
	if !s.expect(':') {
		return nil, false
	}
	return raw, s.err == nil
}

// once marks bit in seen, and fails if it was set: which of two equal members
// counts depends on the reader, so a line that has them can't be trusted.
func (s *scanner) once(seen *uint, bit uint) {
	if *seen&(1<<bit) != 0 {
		s.fail(errDup)
	}
	*seen |= 1 << bit
}

// null consumes a null and reports whether there was one.
func (s *scanner) null() bool {
	if s.space() != 'n' {
		return false
	}
	s.literal("null")
	return true
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		s.fail(errSyntax)
		return
	}
	s.i += len(word)
}

// string returns a string value, decoded.
func (s *scanner) string() string {
	if s.space() != '"' {
		s.fail(errType)
		return ""
	}
	raw, escaped := s.rawString()
	if escaped {
		raw = s.unescape(raw)
	}
	if !utf8.Valid(raw) {
		s.fail(errSyntax)
	}
	return string(raw)
}

// rawString consumes a string and returns what stands between its quotes.
func (s *scanner) rawString() (raw []byte, escaped bool) {
	if !s.expect('"') {
		return nil, false
	}
	const ones, high = 0x0101010101010101, 0x8080808080808080
	b, start, i := s.b, s.i, s.i
	for {
		// Eight bytes at a time, as long as none is a quote, a backslash or a control character.
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^('"'*ones), w^('\\'*ones)
			if found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & high; found != 0 {
				i += bits.TrailingZeros64(found) / 8 // the lowest bit is right, those above it may come of a borrow
				if b[i] == '\\' && i+1 < len(b) && shortEscapes[b[i+1]] {
					escaped, i = true, i+2
					continue
				}
				break
			}
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
			i++
		}
		switch {
		case i >= len(b) || b[i] < 0x20:
			s.fail(errSyntax)
			return nil, false
		case b[i] == '"':
			s.i = i + 1
			return b[start:i], escaped
		}
		escaped = true
		if i = escapeEnd(b, i); i < 0 {
			s.fail(errSyntax)
			return nil, false
		}
	}
}

// shortEscapes are the bytes that make an escape with the backslash before them.
var shortEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escapeEnd returns the end of the escape at b[i], -1 if it is malformed.
func escapeEnd(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch c := b[i+1]; {
	case shortEscapes[c]:
		return i + 2
	case c == 'u':
		if i+6 > len(b) {
			return -1
		}
		for _, c := range b[i+2 : i+6] {
			if c-'0' > 9 && c|0x20-'a' > 5 {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

// unescape decodes the escapes of a raw string. A lone surrogate is a fault:
// no name of a file holds one.
func (s *scanner) unescape(raw []byte) []byte {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	out, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		s.fail(errSyntax)
	}
	return out
}

// int returns an integer value.
func (s *scanner) int() int64 {
	c := s.space()
	start := s.i
	if c != '-' && (c < '0' || c > '9') {
		s.fail(errType)
		return 0
	}
	s.number()
	if s.err != nil {
		return 0
	}
	text := s.b[start:s.i]
	if len(text) < 19 && c != '-' {
		var n int64
		for _, d := range text {
			if d-'0' > 9 {
				s.fail(errType)
				return 0
			}
			n = n*10 + int64(d-'0')
		}
		return n
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		s.fail(errType)
	}
	return n
}

func (s *scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == start {
		s.fail(errSyntax)
	}
}

// at returns the byte at the scanner's place, 0 at the end.
func (s *scanner) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) number() {
	if s.at() == '-' {
		s.i++
	}
	if s.at() == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.at() == '.' {
		s.i++
		s.digits()
	}
	if s.at()|0x20 == 'e' {
		s.i++
		if c := s.at(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
}

// raw consumes any value and returns its text.
func (s *scanner) raw() []byte {
	s.space()
	start := s.i
	s.skip(0)
	if s.err != nil {
		return nil
	}
	return s.b[start:s.i]
}

// skip consumes any value.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.fail(errSyntax)
		return
	}
	switch c := s.space(); c {
	case '"':
		s.rawString()
	case '{':
		s.i++
		for first := true; ; first = false {
			if _, ok := s.member(first); !ok {
				return
			}
			s.skip(depth + 1)
		}
	case '[':
		s.i++
		if s.space() == ']' {
			s.i++
			return
		}
		for {
			s.skip(depth + 1)
			switch s.space() {
			case ',':
				s.i++
			case ']':
				s.i++
				return
			default:
				s.fail(errSyntax)
				return
			}
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// end fails unless only white space is left.
func (s *scanner) end() {
	if s.space(); s.i < len(s.b) {
		s.fail(errSyntax)
	}
}
