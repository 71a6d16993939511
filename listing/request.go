package listing

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

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
	req.Once = true // again is what repeats it
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
// properly.
const (
	patience   = 2 * time.Minute
	triesOther = 8 // where it isn't for throttling
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

// retried asks for a page until it comes or the tries are used up.
func (w *walk) retried(ctx context.Context, req store.PageRequest) (store.Page, error) {
	since := time.Now()
	page, err := w.request(ctx, req)
	for try := 0; err != nil && w.again(ctx, err, try, since); try++ {
		page, err = w.request(ctx, req)
	}
	return page, err
}
