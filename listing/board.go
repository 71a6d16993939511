package listing

import (
	"cmp"
	"fmt"
	"slices"
)

// A board is the bookkeeping of ranges, without IO and without locks: which
// spans wait for a worker, which are being listed, and which are closed. Spans
// are only ever made by newBoard and split, so that open and closed ones tile
// the bounds at any time; proof checks that they do at the end.
type board struct {
	bounds  []Range
	waiting []*span
	active  map[*span]struct{}
	closed  []extent
	splits  int64
}

// extent is a closed part of the key space; as in span, end "" is no bound.
type extent struct {
	bound      int
	after, end string
	incl       bool
}

// newBoard returns a board on which all of bounds is still to be listed.
func newBoard(bounds []Range) *board {
	b := &board{bounds: bounds, active: map[*span]struct{}{}}
	for i, r := range bounds {
		b.waiting = append(b.waiting, &span{after: r.After, last: r.After, end: r.Before, bound: i})
	}
	return b
}

// claim hands out a waiting span, the first in key order, or nil.
func (b *board) claim() *span {
	if len(b.waiting) == 0 {
		return nil
	}
	first := 0
	for i, s := range b.waiting {
		if f := b.waiting[first]; s.bound < f.bound || s.bound == f.bound && s.last < f.last {
			first = i
		}
	}
	s := b.waiting[first]
	b.waiting[first] = b.waiting[len(b.waiting)-1]
	b.waiting = b.waiting[:len(b.waiting)-1]
	b.active[s] = struct{}{}
	return s
}

// split gives the part of s after key at away and returns it, waiting. The key
// itself stays with s. It returns nil if that leaves nothing on one side.
func (b *board) split(s *span, at string) *span {
	if !s.splittable(at) {
		return nil
	}
	far := &span{after: at, last: at, end: s.end, incl: s.incl, bound: s.bound, parent: s, near: s.last}
	s.end, s.incl = at, true
	b.waiting = append(b.waiting, far)
	b.splits++
	return far
}

// release puts an active span back; it resumes after its last key.
func (b *board) release(s *span) {
	delete(b.active, s)
	b.waiting = append(b.waiting, s)
}

// close ends a span: everything in it was seen.
func (b *board) close(s *span) {
	delete(b.active, s)
	b.closed = append(b.closed, extent{s.bound, s.after, s.end, s.incl})
}

// open returns the number of spans that aren't closed.
func (b *board) open() int { return len(b.waiting) + len(b.active) }

// proof returns nil if every span is closed and the closed ones tile the
// bounds without gap or overlap.
func (b *board) proof() error {
	if n := b.open(); n > 0 {
		return fmt.Errorf("%d ranges are still open", n)
	}
	slices.SortFunc(b.closed, func(x, y extent) int {
		return cmp.Or(cmp.Compare(x.bound, y.bound), cmp.Compare(x.after, y.after))
	})
	i := 0
	for n, r := range b.bounds {
		at, end, incl := r.After, "\x00never", true
		for ; i < len(b.closed) && b.closed[i].bound == n; i++ {
			e := b.closed[i]
			if e.after != at || end == "" {
				return fmt.Errorf("ranges don't tile %v: one begins after %q where %q ended the one before", r, e.after, at)
			}
			at, end, incl = e.end, e.end, e.incl
		}
		if end != r.Before || incl {
			return fmt.Errorf("ranges don't tile %v: the last one ends at %q", r, at)
		}
	}
	return nil
}
