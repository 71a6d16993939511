package listing

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// walk is the state that both engines share.
type walk struct {
	r    store.Reader
	o    Options
	emit func([]store.Info) error

	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	st   Stats
	gate *gate
	busy int // workers running

	board    *board
	points   *points
	pageSize int     // entries of the largest page so far
	guess    float64 // names in all; 0 if nobody knows
	serial   bool    // no start keys any more: workers hand their ranges back
}

func newWalk(r store.Reader, o Options, emit func([]store.Info) error) *walk {
	return &walk{r: r, o: o, emit: emit, gate: newGate(o.Workers)}
}

func (w *walk) stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.st
}

// bisect lists by ranges of a flat listing.
func (w *walk) bisect(ctx context.Context) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	bounds := w.o.Within
	switch {
	case w.o.Reach != nil:
		var err error
		if bounds, err = w.prune(ctx); err != nil {
			return err
		}
	case bounds == nil:
		bounds = []Range{{}}
	}
	if w.guess == 0 {
		w.guess = float64(w.o.Expected)
	}
	w.board = newBoard(bounds)
	w.points = newPoints(w.o.Seeds)
	if len(bounds) <= fewBounds && len(w.points.seeds) == 0 {
		if err := w.first(ctx); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.spread()
	w.dispatch(ctx)
	w.mu.Unlock()
	w.wg.Wait()
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if w.serial {
		if err := w.goThrough(ctx); err != nil {
			return err
		}
	}
	w.st.Ranges, w.st.Splits = int64(len(w.board.closed)), w.board.splits
	if err := w.board.proof(); err != nil {
		return &lake.Error{Op: "list", Kind: lake.Internal, Err: err, Hint: "Nothing was planned from the listing. This is a fault of lakesweep's: please report it."}
	}
	return nil
}

// fewBounds is the number of bounds up to which their first pages are read one
// after the other.
const fewBounds = 4

// first lists the first page of each bound, which is all there is of most
// tables, and looks for split points only if it isn't.
func (w *walk) first(ctx context.Context) error {
	var open []*span
	for s := w.board.claim(); s != nil; s = w.board.claim() {
		page, _, err := w.page(ctx, s, "")
		var mine []store.Info
		closed := false
		if err == nil {
			mine, closed, err = s.take(page, false)
		}
		if err == nil && len(mine) > 0 {
			err = w.emit(mine)
		}
		w.serial = errors.Is(err, errStart)
		if err != nil && !w.serial {
			return rangeError(s.String(), err)
		}
		w.mu.Lock()
		w.book(s, page.Entries, mine)
		w.mu.Unlock()
		if closed {
			w.board.close(s)
			continue
		}
		open = append(open, s)
		if w.serial {
			break
		}
	}
	for _, s := range open {
		w.board.release(s)
	}
	if len(open) == 0 || w.serial || w.guess > 0 && w.guess < 2*skeletonRequests*w.pageKeys() {
		return nil
	}
	return w.skeleton(ctx, w.board.bounds)
}

// book counts what a page of s brought and learns from it. Called under the lock.
func (w *walk) book(s *span, page, mine []store.Info) {
	s.keys += int64(len(mine))
	s.pages++
	w.learn(s, mine, page)
	w.st.Keys += int64(len(mine))
	if len(mine) == 0 {
		w.st.Wasted++
	}
	w.o.Observer.Emit(lake.Event{Stage: "list", Done: w.st.Keys, Expected: w.o.Expected})
}

// dispatch starts a worker for each waiting span as far as the gate allows.
// Called under the lock.
func (w *walk) dispatch(ctx context.Context) {
	for w.busy < w.gate.limit && !w.serial && ctx.Err() == nil {
		s := w.board.claim()
		if s == nil {
			return
		}
		w.busy++
		w.st.Workers = max(w.st.Workers, w.busy)
		w.wg.Go(func() { w.work(ctx, s) })
	}
}

// work lists a span until it is closed, handed back or fails.
func (w *walk) work(ctx context.Context, s *span) {
	token := ""
	for {
		page, goingOn, err := w.page(ctx, s, token)
		var mine []store.Info
		closed := false
		if err == nil {
			mine, closed, err = s.take(page, goingOn)
		}
		if err == nil && len(mine) > 0 {
			err = w.emit(mine)
		}
		w.mu.Lock()
		more := w.settle(ctx, s, page.Entries, mine, closed, err)
		w.mu.Unlock()
		if !more {
			return
		}
		token = page.Next
	}
}

// settle books what a page brought and reports whether the worker goes on with
// s. Called under the lock.
func (w *walk) settle(ctx context.Context, s *span, page, mine []store.Info, closed bool, err error) bool {
	goOn := false
	switch {
	case errors.Is(err, errStart):
		w.serial = true
		w.board.release(s)
	case err != nil:
		w.board.release(s)
		w.stop(rangeError(s.String(), err))
	default:
		w.book(s, page, mine)
		switch {
		case closed:
			w.board.close(s)
		case w.serial || w.busy > w.gate.limit:
			w.board.release(s)
		default:
			goOn = true
			if len(w.board.waiting) == 0 && w.busy < w.gate.limit {
				w.giveAway(s)
			}
		}
	}
	if !goOn {
		w.busy--
	}
	w.dispatch(ctx)
	return goOn
}

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
	if w.guess > 0 && w.remaining() < 2*w.pageKeys()*float64(w.busy+1) {
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
	if page := float64(w.pageSize); s.left >= 0 && s.left < 1.5*page {
		// The guess says that it's over. Each page that comes all the same makes another one likelier.
		s.left += page * float64(s.over)
		s.over++
	}
}

// page asks for the next page of s, again if the store throttles or fails.
// goingOn is false if the page was asked for by start key.
func (w *walk) page(ctx context.Context, s *span, token string) (page store.Page, goingOn bool, err error) {
	req := store.PageRequest{Prefix: w.board.bounds[s.bound].prefix(), Token: token}
	since := time.Now()
	for try := 0; ; try++ {
		if req.Token == "" {
			req.After = s.last
		}
		page, err = w.request(ctx, req)
		if err == nil || !w.again(ctx, err, try, since) {
			return page, req.Token != "", err
		}
		req.Token = "" // the last key is safer than a token that failed
	}
}

// request asks for one page and tells the gate how it went.
func (w *walk) request(ctx context.Context, req store.PageRequest) (store.Page, error) {
	start := time.Now()
	page, err := w.r.List(ctx, req)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(err, store.ErrThrottled):
		w.st.Throttled++
		w.gate.throttled(now)
	case err == nil:
		w.st.Requests++
		w.gate.answered(now.Sub(start), w.busy)
	}
	return page, err
}

// patience is how long a worker goes on asking a store that doesn't answer
// properly. The retrying wrapper below it has its own.
const (
	patience   = time.Minute
	triesOther = 4 // where it isn't for throttling
)

// again waits before the next try, or reports that there is none. since is
// when the first was made.
func (w *walk) again(ctx context.Context, err error, try int, since time.Time) bool {
	pause := 20 * time.Millisecond
	throttled := errors.Is(err, store.ErrThrottled)
	switch {
	case ctx.Err() != nil, time.Since(since) > patience, try+1 >= triesOther && !throttled,
		errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrUnsupported), errors.Is(err, fs.ErrInvalid):
		return false
	case throttled:
		pause = 50 * time.Millisecond
	}
	pause = min(pause<<min(try, 10), 5*time.Second)
	t := time.NewTimer(pause/2 + rand.N(pause))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !throttled {
		w.st.Retried++
	}
	return true
}
