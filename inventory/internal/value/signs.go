package value

import "bytes"

// Signs is what the names of a list show of how they are encoded, for reports
// that ought to be form-encoded and may come from another store than S3.
//
// Source: S3 User Guide, "Amazon S3 Inventory list" (keys in CSV are
// URL-encoded); spec/listing-and-libraries.md A5 (as forms are).
type Signs uint8

// The signs.
const (
	Plus      Signs = 1 << iota // a '+'
	Escape                      // a %XX
	Space                       // the escape %20, which no form has
	Malformed                   // a '%' that begins no escape
	Bare                        // a byte that no form leaves as it is
)

// bare are the signs of single bytes. Those that URL encoders differ about are none.
var bare = func() (out [256]Signs) {
	for c := range out {
		if c <= ' ' || c > '~' || bytes.IndexByte([]byte(`"#<=>?[\]^{|}&`+"`"), byte(c)) >= 0 {
			out[c] = Bare
		}
	}
	out['+'] = Plus
	return out
}()

// Look adds the signs of a name.
func (s *Signs) Look(name []byte) {
	seen := *s
	for i := 0; i < len(name); i++ {
		c := name[i]
		seen |= bare[c]
		if c != '%' {
			continue
		}
		switch {
		case i+2 >= len(name) || unhex(name[i+1]) > 15 || unhex(name[i+2]) > 15:
			seen |= Malformed
		case name[i+1] == '2' && name[i+2] == '0':
			seen |= Space | Escape
			i += 2
		default:
			seen |= Escape
			i += 2
		}
	}
	*s = seen
}

// Encoding returns the one that all signs fit; false where they fit several
// that would read the names differently, or none.
func (s Signs) Encoding() (Encoding, bool) {
	switch {
	case s&Malformed != 0:
		return Raw, true
	case s&Bare != 0:
		return Raw, s&Escape == 0 // with escapes: plain names that hold them, or an encoder that leaves more
	case s&Space != 0:
		return Percent, true
	}
	return Form, true
}
