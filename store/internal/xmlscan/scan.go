// Package xmlscan reads XML answers of object stores that lie in memory, twenty
// times as fast as encoding/xml and without its allocations.
package xmlscan

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/store"
)

// Scanner reads the elements of an XML document that lies in memory. It knows
// what an answer of a store can hold: elements, attributes, text with entities
// and CDATA, comments and processing instructions. It checks that elements nest
// and end, not that names and characters are legal. All errors are ErrTruncated.
type Scanner struct {
	b     []byte
	i     int
	attrs []byte // of the last opening tag, as they stand
}

// New returns a Scanner of the document b, which reading overwrites.
func New(b []byte) Scanner { return Scanner{b: b} }

// Rest returns what hasn't been read yet, for a reader that knows what comes.
func (s *Scanner) Rest() []byte { return s.b[s.i:] }

// Advance passes over n bytes of Rest.
func (s *Scanner) Advance(n int) { s.i += n }

// Attributes returns those of the opening tag that Next read last, as they stand.
func (s *Scanner) Attributes() []byte { return s.attrs }

// Broken is an error about an answer that isn't what the store promises.
func Broken(format string, args ...any) error {
	return fmt.Errorf("page of a listing: %s: %w", fmt.Sprintf(format, args...), store.ErrTruncated)
}

// Next moves to the next tag and returns its local name. end: it closes an
// element; empty: it opens and closes one.
func (s *Scanner) Next() (name []byte, end, empty bool, err error) {
	for {
		n := bytes.IndexByte(s.b[s.i:], '<')
		if n < 0 || s.i+n+1 >= len(s.b) {
			return nil, false, false, Broken("no end")
		}
		s.i += n + 1
		switch s.b[s.i] {
		case '/':
			s.i++
			n := bytes.IndexByte(s.b[s.i:], '>')
			if n < 0 {
				return nil, false, false, Broken("no end")
			}
			name = bytes.TrimRight(s.b[s.i:s.i+n], " \t\r\n")
			s.i += n + 1
			return local(name), true, false, nil
		case '?', '!':
			if err := s.skipMarkup(); err != nil {
				return nil, false, false, err
			}
		default:
			name, empty, err = s.openTag()
			return name, false, empty, err
		}
	}
}

// skipMarkup skips a comment, an instruction or CDATA between elements.
func (s *Scanner) skipMarkup() error {
	rest := s.b[s.i:]
	for _, m := range [...]struct{ open, close string }{{"?", "?>"}, {"!--", "-->"}, {"![CDATA[", "]]>"}} {
		if bytes.HasPrefix(rest, []byte(m.open)) {
			n := bytes.Index(rest[len(m.open):], []byte(m.close))
			if n < 0 {
				return Broken("no end")
			}
			s.i += len(m.open) + n + len(m.close)
			return nil
		}
	}
	return Broken("unexpected markup")
}

// openTag reads an opening tag after its '<'.
func (s *Scanner) openTag() (name []byte, empty bool, err error) {
	start := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '>':
			name, s.attrs = s.b[start:s.i], nil
			s.i++
			return local(name), false, nil
		case '/', ' ', '\t', '\r', '\n':
			name = s.b[start:s.i]
			from := s.i
			empty, err = s.attributes()
			s.attrs = s.b[from:s.i]
			return local(name), empty, err
		}
		s.i++
	}
	return nil, false, Broken("no end")
}

// attributes skips to the end of a tag.
func (s *Scanner) attributes() (empty bool, err error) {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"', '\'':
			n := bytes.IndexByte(s.b[s.i+1:], c)
			if n < 0 {
				return false, Broken("no end")
			}
			s.i += n + 2
		case '>':
			s.i++
			return s.b[s.i-2] == '/', nil
		default:
			s.i++
		}
	}
	return false, Broken("no end")
}

// local cuts the prefix of a namespace off. A colon in front makes none.
func local(name []byte) []byte {
	if len(name) > 10 { // no name we know has a prefix and less
		if i := bytes.IndexByte(name, ':'); i > 0 {
			return name[i+1:]
		}
		return name
	}
	for i, c := range name {
		if c == ':' && i > 0 {
			return name[i+1:]
		} else if c == ':' {
			break
		}
	}
	return name
}

// Skip skips the rest of the element name, whatever is in it.
func (s *Scanner) Skip(name []byte, empty bool) error {
	if empty {
		return nil
	}
	// Nearly always the element holds text only.
	n := bytes.IndexByte(s.b[s.i:], '<')
	if n >= 0 && bytes.HasPrefix(s.b[s.i+n:], []byte("</")) {
		s.i += n
		return s.close(name)
	}
	for {
		inner, end, empty, err := s.Next()
		if err != nil {
			return err
		}
		if end {
			if !bytes.Equal(inner, name) {
				return Broken("<%s> ends as <%s>", name, inner)
			}
			return nil
		}
		if err := s.Skip(inner, empty); err != nil {
			return err
		}
	}
}

// close reads the closing tag of name.
func (s *Scanner) close(name []byte) error {
	if i := s.i + 2 + len(name); i < len(s.b) && s.b[i] == '>' && bytes.Equal(s.b[s.i+2:i], name) {
		s.i = i + 1
		return nil
	}
	got, end, _, err := s.Next()
	if err != nil {
		return err
	}
	if !end || !bytes.Equal(got, name) {
		return Broken("<%s> ends as <%s>", name, got)
	}
	return nil
}

// Text returns the text of the element name, decoded in place, and reads its
// closing tag. Elements inside are skipped, as encoding/xml does.
func (s *Scanner) Text(name []byte, empty bool) ([]byte, error) {
	if empty {
		return nil, nil
	}
	start := s.i
	n := bytes.IndexByte(s.b[start:], '<')
	if n < 0 {
		return nil, Broken("no end")
	}
	raw := s.b[start : start+n]
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '\r') < 0 && bytes.HasPrefix(s.b[start+n:], []byte("</")) {
		s.i = start + n
		return raw, s.close(name)
	}
	return s.slowText(name)
}

// slowText is Text with entities, CDATA, comments or elements in it. What it
// decodes is never longer than what it read.
func (s *Scanner) slowText(name []byte) ([]byte, error) {
	start, out := s.i, s.i
	for {
		n := bytes.IndexByte(s.b[s.i:], '<')
		if n < 0 {
			return nil, Broken("no end")
		}
		var err error
		if out, err = s.unescape(out, s.i, s.i+n, true); err != nil {
			return nil, err
		}
		s.i += n
		rest := s.b[s.i:]
		switch {
		case bytes.HasPrefix(rest, []byte("</")):
			return s.b[start:out], s.close(name)
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			n := bytes.Index(rest, []byte("]]>"))
			if n < 0 {
				return nil, Broken("no end")
			}
			if out, err = s.unescape(out, s.i+len("<![CDATA["), s.i+n, false); err != nil {
				return nil, err
			}
			s.i += n + len("]]>")
		case bytes.HasPrefix(rest, []byte("<!")), bytes.HasPrefix(rest, []byte("<?")):
			s.i++
			if err := s.skipMarkup(); err != nil {
				return nil, err
			}
		default:
			inner, _, empty, err := s.Next()
			if err != nil {
				return nil, err
			}
			if err := s.Skip(inner, empty); err != nil {
				return nil, err
			}
		}
	}
}

// unescape moves b[from:to] to out: line ends normalised (XML 1.0, 2.11), and
// entities replaced if there are any to be.
func (s *Scanner) unescape(out, from, to int, entities bool) (int, error) {
	for i := from; i < to; {
		switch c := s.b[i]; {
		case c == '\r':
			if i++; i < to && s.b[i] == '\n' {
				i++
			}
			s.b[out] = '\n'
			out++
		case c == '&' && entities:
			n := bytes.IndexByte(s.b[i:to], ';')
			if n < 0 {
				return 0, Broken("bad entity")
			}
			r, ok := entity(string(s.b[i+1 : i+n]))
			if !ok {
				return 0, Broken("unknown entity %q", s.b[i:i+n+1])
			}
			out += utf8.EncodeRune(s.b[out:], r)
			i += n + 1
		default:
			s.b[out] = c
			out, i = out+1, i+1
		}
	}
	return out, nil
}

// entity returns the character that the reference &name; stands for.
func entity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	base := 10
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	} else if name = name[1:]; name[0] == 'x' {
		base, name = 16, name[1:]
	}
	// The shortest reference of a rune is longer than its UTF-8.
	n, err := strconv.ParseUint(name, base, 32)
	return rune(n), err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n))
}
