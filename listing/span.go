package listing

import (
	"fmt"
	"unicode/utf8"
)

// Range is the names greater than After and less than Before; Before "" is no
// bound. Names compare as bytes, directories' placeholders with their slash.
type Range struct{ After, Before string }

// Below is the range of the names below directory dir, at any depth; without
// the placeholder dir/ itself. Below("") is everything.
func Below(dir string) Range {
	if dir == "" {
		return Range{}
	}
	return Range{After: dir + "/", Before: dir + "0"} // '0' follows '/'
}

func (r Range) String() string {
	if r.Before == "" {
		return fmt.Sprintf("(%q, end)", r.After)
	}
	return fmt.Sprintf("(%q, %q)", r.After, r.Before)
}

func (r Range) holds(name string) bool {
	return name > r.After && (r.Before == "" || name < r.Before)
}

func (r Range) overlaps(o Range) bool {
	return (o.Before == "" || r.After < o.Before) && (r.Before == "" || o.After < r.Before)
}

// prefix returns the longest prefix that all names of r have in common.
func (r Range) prefix() string {
	a, b := r.After, r.Before
	i := common(a, b)
	if i < len(a) && i == len(b)-1 && b[i] == a[i]+1 {
		i++ // as in Below: from "d/…" to "d0" all begin with "d/"
	}
	p := a[:i]
	for len(p) > 0 && !utf8.ValidString(p) {
		p = p[:len(p)-1] // a store takes whole characters only
	}
	return p
}

// A span is a part of the key space that one worker at a time lists: the keys
// greater than after, up to end. It is the unit of splitting and resuming.
type span struct {
	after string // where it begins, exclusive
	end   string // where it ends; "" is no bound
	incl  bool   // a key equal to end belongs to it: it was split off there
	last  string // no key up to here is still to come; at first after
	bound int    // index of the Range that it is a part of

	keys   int64   // entries it yielded
	pages  int64   // pages that it took
	left   float64 // entries that it's guessed to hold still; -1 if there is no guess
	parent *span   // the span it was split off, until its first page
	near   string  // the parent's last key when it was split off
	misses int     // parts given away in succession that turned out empty
	over   int     // pages since it was guessed to be over
	tried  int64   // pages when it last gave away
	rest   int     // pages until it may give away again
}

func (s *span) String() string {
	if s.end == "" {
		return fmt.Sprintf("keys after %q", s.last)
	}
	return fmt.Sprintf("keys after %q up to %q", s.last, s.end)
}

// past reports whether key lies beyond the span's end.
func (s *span) past(key string) bool {
	return s.end != "" && (key > s.end || key == s.end && !s.incl)
}

// splittable reports whether a split at key leaves room on both sides.
func (s *span) splittable(at string) bool {
	return at > s.last && (s.end == "" || at < s.end)
}

// validPoint reports whether a split point can be sent to any store: UTF-8
// without the characters that XML forbids.
func validPoint(s string) bool {
	for _, c := range s {
		if c < ' ' || c == 0xfffe || c == 0xffff {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}
