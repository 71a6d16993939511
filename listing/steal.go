package listing

import "github.com/lakesweep/lakesweep/store"

// spreadPages is the least number of pages in a span for which spread cuts it off.
const spreadPages = 4

// spread cuts the bounds at the seeds into as many spans as may run at first.
func (w *walk) spread() {
	limit := w.gate.limit
	if w.guess > 0 {
		limit = min(limit, 1+int(w.guess/w.pageKeys()/spreadPages))
	}
	for len(w.board.waiting) < limit {
		widest, most := (*span)(nil), 1
		for _, s := range w.board.waiting {
			if lo, hi := w.points.seedsOf(s.last, s.end); hi-lo > most {
				widest, most = s, hi-lo
			}
		}
		if widest == nil || w.board.split(widest, w.points.between(widest)) == nil {
			return
		}
	}
}

// giveAway splits s, whose worker goes on, for a worker that has nothing to
// do: if s has enough left, and those with more aren't enough for all who wait.
func (w *walk) giveAway(s *span) {
	if s.rest > 0 {
		s.rest--
		return
	}
	soon := w.guess > 0 && w.remaining() < 2*w.pageKeys()*float64(w.busy+1)
	if soon && s.left < 3*float64(w.pageSize) {
		return // all will be done soon
	}
	if s.left >= 0 {
		if s.left < 2*float64(w.pageSize) {
			return
		}
		idle := w.gate.limit - w.busy
		for o := range w.board.active {
			if o != s && o.left > 2*s.left {
				if idle--; idle == 0 {
					return
				}
			}
		}
	}
	steps := 1
	if s.misses > 0 {
		// A blind search for where the keys end: several steps at once, within a budget.
		if steps = min(1+s.misses, 4, w.gate.limit-w.busy, w.blindLeft()); steps <= 0 {
			if s.tried+2 > s.pages || w.busy > w.gate.limit/2 {
				return
			}
			steps = 1
		}
	}
	s.tried = s.pages
	for ; steps > 0; steps-- {
		if at := w.points.between(s); at == "" || w.board.split(s, at) == nil {
			return
		}
	}
}

// blindLeft returns how many more requests may be spent on searching blindly.
func (w *walk) blindLeft() int {
	share := int64(16)
	if len(w.o.Seeds) > 0 {
		share = 64 // seeds make blind searches rare; those that remain are for the last pages
	}
	base := int64(32)
	if w.guess > 0 {
		base = min(base, int64(w.remaining()/w.pageKeys()/4))
	}
	return int(base + w.st.Requests/share - w.st.Wasted)
}

// remaining returns how many names are guessed still to come. A guess that was
// passed is taken for half of the truth.
func (w *walk) remaining() float64 {
	for w.guess <= float64(w.st.Keys) {
		w.guess *= 2
	}
	return w.guess - float64(w.st.Keys)
}

// learn books what a page of s teaches about the names and about s.
func (w *walk) learn(s *span, mine, page []store.Info) {
	w.points.page(page)
	w.pageSize = max(w.pageSize, len(mine))
	if p := s.parent; p != nil {
		s.parent = nil
		if len(mine) > 0 {
			p.misses = 0
		} else {
			p.misses++
			w.points.missed(s.near, s.after)
			p.rest = p.misses / 8
		}
	}
	s.left = w.points.left(s)
	if n := len(w.points.seeds); w.guess > 0 && len(w.o.Seeds) > 0 && n > 0 {
		// The caller's seeds are a sample: between two of them lie about as many names everywhere.
		lo, hi := w.points.seedsOf(s.last, s.end)
		s.left = min(s.left, w.guess/float64(n)*float64(hi-lo+1))
	}
	if page := float64(w.pageSize); s.left >= 0 && s.left < 1.5*page {
		// The guess says that it's over. Each page that comes all the same makes another one likelier.
		s.left += page * float64(s.over)
		s.over++
	}
}
