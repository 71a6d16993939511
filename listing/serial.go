package listing

import (
	"cmp"
	"context"
	"slices"

	"github.com/lakesweep/lakesweep/store"
)

// goThrough lists what is still open page after page, for a store that ignores
// start keys: from the beginning of each bound by tokens, emitting only what
// lies in open spans. What the closed spans yielded was proved by its pages.
func (w *walk) goThrough(ctx context.Context) error {
	w.st.Serial = true
	for bound := range w.board.bounds {
		var left []*span
		for _, s := range w.board.waiting {
			if s.bound == bound {
				left = append(left, s)
			}
		}
		slices.SortFunc(left, func(a, b *span) int { return cmp.Compare(a.last, b.last) })
		if err := w.chain(ctx, bound, left); err != nil {
			return err
		}
	}
	return nil
}

// chain lists one bound from its beginning for the open spans in it.
func (w *walk) chain(ctx context.Context, bound int, left []*span) error {
	all := &span{bound: bound} // every page's order is checked against the one before
	for req := (store.PageRequest{Prefix: w.board.bounds[bound].prefix()}); len(left) > 0; {
		page, err := w.retried(ctx, req)
		var entries []store.Info
		closed := false
		if err == nil {
			entries, closed, err = all.take(page, true)
		}
		if err != nil {
			return rangeError(all.String(), err)
		}
		for len(left) > 0 {
			s := left[0]
			from := upTo(entries, func(key string) bool { return key > s.last })
			entries = entries[from:]
			to := upTo(entries, s.past)
			if to > 0 {
				if err := w.emit(entries[:to]); err != nil {
					return rangeError(s.String(), err)
				}
				s.last = entries[to-1].Listed()
				w.mu.Lock()
				w.st.Keys += int64(to)
				w.mu.Unlock()
			}
			if to == len(entries) && !closed {
				break // it may go on in the next page
			}
			entries, left = entries[to:], left[1:]
			w.closeWaiting(s)
		}
		req.Token = page.Next
	}
	return nil
}

// upTo returns the index of the first entry for which reached is true.
func upTo(entries []store.Info, reached func(key string) bool) int {
	for i := range entries {
		if reached(entries[i].Listed()) {
			return i
		}
	}
	return len(entries)
}

func (w *walk) closeWaiting(s *span) {
	w.board.waiting = slices.DeleteFunc(w.board.waiting, func(o *span) bool { return o == s })
	w.board.close(s)
}
