package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"golang.org/x/time/rate"
)

// limited is a store that lists and deletes at most so many units a second.
type limited struct {
	store.Store
	lim              *rate.Limiter
	mu               sync.Mutex
	served, refused  int
	warm             time.Time // counts begin here
	warmOK, warmFail int
}

func (l *limited) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	ok := l.lim.AllowN(now, 1)
	if ok {
		l.served++
	} else {
		l.refused++
	}
	if now.After(l.warm) {
		if ok {
			l.warmOK++
		} else {
			l.warmFail++
		}
	}
	return ok
}

func (l *limited) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	time.Sleep(20 * time.Millisecond)
	if !l.take() {
		return store.Page{}, store.ErrThrottled
	}
	return store.Page{}, ctx.Err()
}

func (l *limited) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	time.Sleep(20 * time.Millisecond)
	outcomes := make([]store.Outcome, len(targets))
	for i, t := range targets {
		outcomes[i].Target = t
		if !l.take() {
			outcomes[i].Err = store.ErrThrottled
		}
	}
	return outcomes, ctx.Err()
}

// B071: 64 workers against 200 requests a second.
func TestPaceFindsTheStoresLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limited{Store: mem.New(mem.Options{}), lim: rate.NewLimiter(200, 20), warm: time.Now().Add(10 * time.Second)}
		s := store.Retry(store.NewPacer(store.PaceOptions{}).Pace(l), store.RetryOptions{Attempts: 20})
		start := time.Now()
		var wg sync.WaitGroup
		const workers, each = 64, 200
		for range workers {
			wg.Go(func() {
				for range each {
					if _, err := s.List(t.Context(), store.PageRequest{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		took, ideal := time.Since(start), time.Duration(workers*each/200)*time.Second
		t.Logf("%v, ideal %v, refused %d of %d, after warm-up %d of %d", took, ideal, l.refused, l.served+l.refused, l.warmFail, l.warmOK+l.warmFail)
		if took > ideal*3/2 {
			t.Errorf("took %v, ideal is %v", took, ideal)
		}
		if l.warmFail*20 > l.warmOK+l.warmFail {
			t.Errorf("%d of %d refused after warm-up", l.warmFail, l.warmOK+l.warmFail)
		}
	})
}

// Stores that take a hundredth, a tenth or all of a second's worth at once: batches of a thousand keys must neither starve nor give up.
func TestPaceOfDeletesCountsKeys(t *testing.T) {
	for burst, most := range map[int]float64{35: 2, 350: 1.3, 3500: 1.3} {
		t.Run(fmt.Sprint(burst), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &limited{Store: mem.New(mem.Options{}), lim: rate.NewLimiter(3500, burst), warm: time.Now().Add(5 * time.Second)}
				s := store.Retry(store.NewPacer(store.PaceOptions{}).Pace(l), store.RetryOptions{})
				start := time.Now()
				var wg sync.WaitGroup
				const workers, each = 16, 7
				for range workers {
					wg.Go(func() {
						for range each {
							outcomes, err := s.Delete(t.Context(), make([]store.Target, 1000))
							for _, o := range outcomes {
								err = errors.Join(err, o.Err)
							}
							if err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				took, ideal := time.Since(start).Seconds(), float64(workers*each*1000)/3500
				t.Logf("burst %d: %.1fs, ideal %.1fs, refused %d of %d keys", burst, took, ideal, l.refused, l.served+l.refused)
				if took > ideal*most {
					t.Errorf("burst %d: took %.1fs, ideal is %.1fs", burst, took, ideal)
				}
			})
		})
	}
}

func TestPaceKeepsItsBoundAndIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := store.NewPacer(store.PaceOptions{ListRate: 50, DeleteRate: 1000})
		a, b := p.Pace(mem.New(mem.Options{})), p.Pace(mem.New(mem.Options{}))
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 500 {
			s := []store.Store{a, b}[i%2]
			wg.Go(func() {
				if _, err := s.List(t.Context(), store.PageRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("500 pages at 50 a second took %v", took)
		}
		start = time.Now()
		for i := range 5 {
			targets := make([]store.Target, 1000)
			for j := range targets {
				targets[j].Name = fmt.Sprint(i, j)
			}
			if _, err := a.Delete(t.Context(), targets); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("5000 deletes at 1000 a second took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := a.Delete(ctx, make([]store.Target, 1000)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
