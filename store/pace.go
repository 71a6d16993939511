package store

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"time"
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
	return &Pacer{newPace(opt.ListRate, 50), newPace(opt.DeleteRate, 1000)}
}

// Pace makes listings and deletes wait for their turn. When the store asks to
// slow down, the rate falls below what the store last managed, and then grows
// again, slowly at first.
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

func (p paced) Copy(ctx context.Context, name string, to Store, toName string) error {
	return p.s.Copy(ctx, name, to, toName)
}

// pace is one adaptive rate. Turns are given in the order in which they are
// asked for, each as long as its units take at the rate: batches of deletes
// don't arrive together.
type pace struct {
	mu     sync.Mutex
	limit  float64 // units a second, +Inf for none
	max    float64
	first  float64   // the first guess
	next   time.Time // when the next turn begins
	guess  bool      // limit is a guess
	grown  time.Time // when it last grew
	fell   time.Time // when it last fell
	served float64   // units that the store did after since
	since  time.Time
	good   float64 // units a second of late
	burst  float64 // seconds of units that a call may carry after a fall
}

const (
	paceWindow = time.Second
	paceFall   = 0.9  // of what the store last managed
	paceFloor  = 1    // unit a second
	paceBurst  = 0.1  // seconds: the units of one call, once the store has asked to slow down
	paceSpark  = 0.01 // seconds: the same, where the store goes on asking
)

// newPace makes a pace below bound. Where the store asks to slow down before
// anything is known, it goes on with first units a second.
func newPace(bound, first float64) *pace {
	if bound <= 0 {
		bound = math.Inf(1)
	}
	return &pace{limit: bound, max: bound, first: first, burst: 2 * paceBurst}
}

// wait waits for a turn of n units.
func (p *pace) wait(ctx context.Context, n int) error {
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	delay := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(n) / p.limit * float64(time.Second)))
	p.mu.Unlock()
	if delay == 0 {
		return ctx.Err()
	}
	return sleep(ctx, delay)
}

// portion is how many of n units the next call may carry: what is refused as a
// burst would be refused again and again if it came back as one.
func (p *pace) portion(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fell.IsZero() {
		return n
	}
	return max(1, int(min(float64(n), p.limit*p.burst)))
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
		p.since = start
	}
	window := paceWindow
	if p.guess {
		window /= 4
	}
	if d := now.Sub(p.since); d >= window {
		p.measure(p.served / d.Seconds())
		p.served, p.since = 0, now
	}
	switch {
	case throttled && start.After(p.fell) && now.Sub(p.fell) >= window:
		p.fall(now)
	case !throttled && ok && !p.fell.IsZero() && !p.guess && p.limit < p.max:
		p.grow(now)
	}
}

// measure takes the rate of the last window. A guessed limit doubles as long as
// the store serves about as much.
func (p *pace) measure(good float64) {
	switch {
	case p.guess && good > p.limit/2:
		p.limit = min(p.max, 2*p.limit)
	case !p.guess && p.good > 0 && good > p.good:
		good = (good + p.good) / 2 // a burst isn't a rate
	}
	p.good = good
}

// grow raises the rate: by a twentieth a second at first, and the faster the
// longer nothing was throttled.
func (p *pace) grow(now time.Time) {
	quiet := now.Sub(p.fell).Seconds()
	share := (1 + quiet*quiet/8) / 20
	p.limit = min(p.max, p.limit*(1+share*min(now.Sub(p.grown), paceWindow).Seconds()))
	p.grown = now
}

// fall lowers the rate, once for the many calls that were on their way.
func (p *pace) fall(now time.Time) {
	unknown := math.IsInf(p.limit, 1) && p.good == 0
	switch {
	case unknown:
		p.limit = max(p.served/max(now.Sub(p.since), paceWindow/2).Seconds()/2, p.first)
	case p.guess: // the last second was slower than the store is
		p.limit = max(p.limit/2, paceFall*min(p.good, p.limit))
	case p.good > 0:
		p.limit = paceFall * min(p.good, p.limit)
	default:
		p.limit /= 2
	}
	p.guess, p.limit = unknown, max(p.limit, paceFloor)
	p.fell, p.grown, p.burst = now, now, max(p.burst/2, paceSpark)
}
