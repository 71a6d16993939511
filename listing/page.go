package listing

import (
	"errors"
	"fmt"

	"github.com/lakesweep/lakesweep/store"
)

var (
	// errOrder: the store's answer breaks the order of names, so nothing proves that it is complete.
	errOrder = errors.New("the store's listing isn't in byte order")
	// errStart: the store lists from the beginning whatever key it is told to start after.
	errStart = errors.New("the store ignores start keys")
)

// take checks a page that was asked for after s.last, by start key or (going
// on) by token, and returns the entries that belong to s, and whether the page
// closes s. On errors nothing of the page may be used.
func (s *span) take(page store.Page, goingOn bool) (mine []store.Info, closed bool, err error) {
	entries, prev, n := page.Entries, s.last, -1
	for i := range entries {
		key := entries[i].Listed()
		if key <= prev {
			if i == 0 && !goingOn {
				return nil, false, fmt.Errorf("%w: asked for names after %q, got %q", errStart, prev, key)
			}
			return nil, false, fmt.Errorf("%w: %q comes after %q", errOrder, key, prev)
		}
		if n < 0 && s.past(key) {
			n = i
		}
		prev = key
	}
	if n >= 0 {
		return entries[:n], true, nil
	}
	if len(entries) > 0 {
		s.last = prev
	}
	return entries, page.Next == "" || s.incl && s.last == s.end, nil
}
