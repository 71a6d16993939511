package listing

import "time"

// A gate decides how many workers may run: fixed, or adapted to the store. It
// doubles the number while throughput follows, then adds a few at a time, and
// halves it at most once a round trip when the store throttles.
//
// It is used under the walk's lock.
type gate struct {
	limit, most int
	fixed       bool

	slow    bool      // past the first throttling or the first round without a gain
	halved  time.Time // of the last halving
	pages   int64     // in this window
	since   time.Time // start of this window
	rate    float64   // pages a second of the window before
	latency time.Duration
}

const (
	firstWorkers = 16
	mostWorkers  = 256
)

func newGate(workers int, now time.Time) *gate {
	if workers > 0 {
		return &gate{limit: workers, most: workers, fixed: true, since: now}
	}
	return &gate{limit: firstWorkers, most: mostWorkers, since: now}
}

// answered notes that a page took this long. A window is two pages for each
// worker, so that both of its ends see a steady number of them.
func (g *gate) answered(took time.Duration, now time.Time) {
	if g.latency == 0 {
		g.latency = took
	}
	g.latency += (took - g.latency) / 8
	g.pages++
	if g.fixed || g.pages < int64(2*g.limit) {
		return
	}
	rate := float64(g.pages) / max(now.Sub(g.since), time.Microsecond).Seconds()
	gained := rate > g.rate*1.1
	switch {
	case !gained:
		g.slow = true
	case g.slow:
		g.limit = min(g.most, g.limit+max(1, g.limit/16))
	default:
		g.limit = min(g.most, g.limit*2)
	}
	g.pages, g.since, g.rate = 0, now, rate
}

// throttled notes that the store refused a request for its rate.
func (g *gate) throttled(now time.Time) {
	if g.fixed || now.Sub(g.halved) < 2*g.latency {
		return
	}
	g.limit = max(1, g.limit/2)
	g.slow, g.halved = true, now
	g.pages, g.since, g.rate = 0, now, 0
}
