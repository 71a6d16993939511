package value

import (
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
)

// Encoding says how a list spells names.
type Encoding uint8

// The encodings.
const (
	Raw     Encoding = iota // as the store spells them
	Percent                 // each %XX is a byte
	Form                    // as Percent, and '+' is a space: S3 Inventory's CSV
)

// String returns the word that the columns option takes.
func (e Encoding) String() string { return [...]string{"raw", "percent", "form"}[e] }

// ParseEncoding reads the word that String returns.
func ParseEncoding(s string) (Encoding, error) {
	for _, e := range []Encoding{Raw, Percent, Form} {
		if e.String() == s {
			return e, nil
		}
	}
	return 0, &lake.Error{Op: "read inventory columns", Kind: lake.Invalid, Err: fmt.Errorf("unknown encoding %q", s), Hint: "Write encoding=raw, percent or form."}
}

// AppendDecoded appends the name that s spells, once decoded; false for a
// malformed escape, when nothing may be believed of what was appended.
func (e Encoding) AppendDecoded(b, s []byte) ([]byte, bool) {
	if e == Raw {
		return append(b, s...), true
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			if i+2 >= len(s) {
				return b, false
			}
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi > 15 || lo > 15 {
				return b, false
			}
			c = hi<<4 | lo
			i += 2
		case c == '+' && e == Form:
			c = ' '
		}
		b = append(b, c)
	}
	return b, true
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}
