package listing

import "time"

// A gate decides how many workers may run: fixed, or adapted to the store. The
// number doubles, later grows by an eighth, while answers come as quickly as
// with few workers: as long as they do, throughput grows with it. It halves when the store throttles, comes
// back quickly to a little under the number that was too many, and then
// creeps up.
//
// It is used under the walk's lock.
type gate struct {
	limit, most int
	fixed       bool

	ceiling int           // about how many were too many; most if unknown
	halved  time.Time     // of the last halving
	best    time.Duration // the quickest window's mean answer
	latency time.Duration // mean answer of the last window
	window  struct {
		pages, busy int
		took        time.Duration // all pages together
	}
}

const (
	firstWorkers = 16
	mostFirst    = 64
	pagesEach    = 8 // that a worker finds at least, if more than firstWorkers begin
	manyWorkers  = 128
	mostWorkers  = 384
	crowded      = 1.6 // answers slower by this factor mean that workers wait for each other
)

func newGate(workers int) *gate {
	if workers > 0 {
		return &gate{limit: workers, fixed: true}
	}
	return &gate{limit: firstWorkers, most: mostWorkers, ceiling: mostWorkers}
}

// expect lets more workers begin where so many pages are expected, and where
// they may begin is known.
func (g *gate) expect(pages float64) {
	if !g.fixed {
		g.limit = max(g.limit, min(int(pages)/pagesEach, mostFirst))
	}
}

// answered notes that a page took this long while so many workers were busy.
func (g *gate) answered(took time.Duration, busy int) {
	if g.fixed {
		return
	}
	g.window.took += took
	g.window.busy += busy
	if g.window.pages++; g.window.pages < g.limit {
		return
	}
	g.latency = g.window.took / time.Duration(g.window.pages)
	used := g.window.busy / g.window.pages
	g.window.pages, g.window.busy, g.window.took = 0, 0, 0
	if g.best == 0 || g.latency < g.best {
		g.best = g.latency
	}
	switch near := g.ceiling * 7 / 8; {
	case float64(g.latency) > 2*crowded*float64(g.best):
		g.limit = max(firstWorkers, g.limit*7/8)
	case float64(g.latency) > crowded*float64(g.best), used < g.limit*2/3:
	case g.limit < near:
		step := g.limit
		if g.limit >= manyWorkers {
			step /= 8
		}
		g.limit = min(near, g.limit+step)
	default:
		g.limit = min(g.most, g.limit+1)
		g.ceiling = max(g.ceiling, g.limit)
	}
}

// throttled notes that the store refused a request for its rate. Requests that
// were under way when it halved the number don't halve it again.
func (g *gate) throttled(now time.Time) {
	if g.fixed || now.Sub(g.halved) < 2*g.latency {
		return
	}
	g.ceiling = g.limit
	g.limit = max(1, g.limit/2)
	g.halved = now
	g.window.pages, g.window.busy, g.window.took = 0, 0, 0
}
