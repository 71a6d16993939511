package listing

import (
	"context"
	"errors"
	"sync"

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
	if len(w.points.seeds) > 0 {
		w.gate.expect(w.guess / w.pageKeys())
	}
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
		jumped := false
		if err == nil && !closed {
			jumped, closed = w.jump(s)
		}
		w.mu.Lock()
		more := w.settle(ctx, s, page.Entries, mine, closed, err)
		w.mu.Unlock()
		if !more {
			return
		}
		if token = page.Next; jumped {
			token = ""
		}
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
