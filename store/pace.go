package store

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// PaceOptions are upper bounds; 0 is none. The pace adapts below them.
type PaceOptions struct {
	ListRate   float64 // listing requests a second
	DeleteRate float64 // deleted keys a second
}

// Pacer holds the pace of one bucket. Share it among all stores opened there,
// whatever table they belong to. Safe for concurrent use.
type Pacer struct{ list, delete *pace }

// NewPacer returns a Pacer that begins at the bounds.
func NewPacer(opt PaceOptions) *Pacer {
	return &Pacer{newPace(opt.ListRate), newPace(opt.DeleteRate)}
}

// Pace makes listings and deletes wait for their turn. When the store asks to
// slow down, the rate falls below what the store last managed (to one half if
// that isn't known), and then grows again by a twentieth of it a second.
func (p *Pacer) Pace(s Store) Store { return paced{s, p} }

type paced struct {
	s Store
	p *Pacer
}

func (p paced) Unwrap() Store  { return p.s }
func (p paced) Traits() Traits { return p.s.Traits() }

func (p paced) Stat(ctx context.Context, name string) (Info, error) { return p.s.Stat(ctx, name) }

func (p paced) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return p.s.Open(ctx, name, offset, length)
}

func (p paced) List(ctx context.Context, req PageRequest) (Page, error) {
	if err := p.p.list.wait(ctx, 1); err != nil {
		return Page{}, err
	}
	start := time.Now()
	page, err := p.s.List(ctx, req)
	p.p.list.done(start, 1, err == nil, errors.Is(err, ErrThrottled))
	return page, err
}

func (p paced) Status(ctx context.Context) (Status, error) { return p.s.Status(ctx) }

func (p paced) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return p.s.PutIfAbsent(ctx, name, data)
}

func (p paced) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	return p.s.Replace(ctx, name, data, ifMatch)
}

func (p paced) Remove(ctx context.Context, name string, ifMatch string) error {
	return p.s.Remove(ctx, name, ifMatch)
}

func (p paced) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	if err := p.p.delete.wait(ctx, len(targets)); err != nil {
		return nil, err
	}
	start := time.Now()
	outcomes, err := p.s.Delete(ctx, targets)
	throttled, served := errors.Is(err, ErrThrottled), 0
	for _, o := range outcomes {
		if errors.Is(o.Err, ErrThrottled) {
			throttled = true
		} else {
			served++
		}
	}
	p.p.delete.done(start, served, err == nil, throttled)
	return outcomes, err
}

func (p paced) DeleteDir(ctx context.Context, name string) error {
	if err := p.p.delete.wait(ctx, 1); err != nil {
		return err
	}
	start := time.Now()
	err := p.s.DeleteDir(ctx, name)
	p.p.delete.done(start, 1, err == nil, errors.Is(err, ErrThrottled))
	return err
}

func (p paced) Copy(ctx context.Context, name string, to Store, toName string) error {
	return p.s.Copy(ctx, name, to, toName)
}

// pace is one adaptive rate.
type pace struct {
	mu     sync.Mutex
	lim    *rate.Limiter
	max    rate.Limit
	step   rate.Limit // growth a second, 0 as long as nothing was throttled
	grown  time.Time  // when it last grew
	fell   time.Time  // when it last fell
	served float64    // units that the store did since since
	since  time.Time
	good   float64 // units a second of late
}

const (
	paceWindow = time.Second
	paceFall   = 0.9 // of what the store last managed
	paceFloor  = 1   // unit a second
)

func newPace(bound float64) *pace {
	limit := rate.Inf
	if bound > 0 {
		limit = rate.Limit(bound)
	}
	return &pace{lim: rate.NewLimiter(limit, burst(limit)), max: limit}
}

// burst is a tenth of a second's worth.
func burst(limit rate.Limit) int {
	if limit == rate.Inf {
		return 1
	}
	return max(1, int(limit/10))
}

// wait waits for n units, in portions no larger than the burst.
func (p *pace) wait(ctx context.Context, n int) error {
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		portion := min(n, p.lim.Burst())
		r := p.lim.ReserveN(time.Now(), portion)
		if !r.OK() {
			continue // the burst shrank in between
		}
		n -= portion
		if err := sleep(ctx, r.Delay()); err != nil {
			r.Cancel()
			return err
		}
	}
	return nil
}

// done records how a call that began at start went: n units were served.
func (p *pace) done(start time.Time, n int, ok, throttled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if ok {
		p.served += float64(n)
	}
	if p.since.IsZero() {
		p.since = now
	} else if d := now.Sub(p.since); d >= paceWindow {
		good := p.served / d.Seconds()
		if p.good > 0 {
			good = (good + p.good) / 2
		}
		p.good, p.served, p.since = good, 0, now
	}
	switch {
	case throttled && now.Sub(p.fell) >= paceWindow && start.After(p.fell):
		p.fall(now)
	case !throttled && ok && p.step > 0 && p.lim.Limit() < p.max:
		limit := min(p.max, p.lim.Limit()+p.step*rate.Limit(min(now.Sub(p.grown), paceWindow).Seconds()))
		p.set(limit, now)
	}
}

// fall lowers the rate, once for the many calls that were on their way.
func (p *pace) fall(now time.Time) {
	limit := p.lim.Limit() / 2
	if p.good > 0 {
		limit = min(rate.Limit(paceFall*p.good), paceFall*p.lim.Limit())
	} else if p.lim.Limit() == rate.Inf {
		d := max(now.Sub(p.since).Seconds(), 0.1)
		limit = rate.Limit(p.served / d / 2)
	}
	limit = max(limit, paceFloor)
	p.step, p.fell = limit/20, now
	p.set(limit, now)
}

func (p *pace) set(limit rate.Limit, now time.Time) {
	p.lim.SetLimitAt(now, limit)
	p.lim.SetBurstAt(now, burst(limit))
	p.grown = now
}
