package listing

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

var traceLayout = flag.String("simtrace", "", "layout")

func TestTrace(t *testing.T) {
	if *traceLayout == "" {
		t.Skip()
	}
	synctest.Test(t, func(t *testing.T) {
		n := 1_000_000
		s := &simulated{n: n, key: layouts[*traceLayout](n), pageSize: 100, latency: 50 * time.Millisecond, rate: 3500}
		var keys atomic.Int64
		w := newWalk(s, Options{}, func(batch []store.Info) error { keys.Add(int64(len(batch))); return nil })
		done := make(chan bool)
		start := time.Now()
		go func() { w.bisect(t.Context()); close(done) }()
		tick := time.NewTicker(100 * time.Millisecond)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			w.mu.Lock()
			if w.board == nil {
				w.mu.Unlock()
				continue
			}
			var big *span
			unknown, small := 0, 0
			for s := range w.board.active {
				if s.left < 0 {
					unknown++
				} else if s.left < 150 {
					small++
				}
				if big == nil || s.left > big.left {
					big = s
				}
			}
			fmt.Printf("%5.1f busy %3d/%3d keys %7d unknown %d small %d wasted %d", time.Since(start).Seconds(), w.busy, w.gate.limit, keys.Load(), unknown, small, w.st.Wasted)
			if big != nil {
				fmt.Printf(" big %.0f keys=%d (%q %q %q) misses %d", big.left, big.keys, big.after, big.last, big.end, big.misses)
			}
			fmt.Println()
			w.mu.Unlock()
		}
	})
}
