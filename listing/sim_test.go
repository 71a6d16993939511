package listing

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// A simulated object store with computed keys, a latency and a request limit.
// In a synctest bubble its time is virtual, so a listing of hours takes as
// long as the computing of its keys.
type simulated struct {
	n        int
	key      func(i int) string
	pageSize int
	latency  time.Duration
	rate     float64 // requests a second; 0 is no limit

	mu     sync.Mutex
	tokens float64
	filled time.Time

	requests, throttled atomic.Int64
}

func (s *simulated) Traits() store.Traits {
	return store.Traits{Name: "simulated", StartAfter: true, Flat: true, PageSize: s.pageSize}
}

func (s *simulated) Stat(context.Context, string) (store.Info, error) {
	return store.Info{}, store.ErrUnsupported
}
func (s *simulated) Status(context.Context) (store.Status, error) { return store.Status{}, nil }
func (s *simulated) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, store.ErrUnsupported
}

// delay is the latency of the n-th request: with a rate, between 3/4 and 5/4 of
// the mean. Were all alike, all workers would ask again in the same instant, and
// how many of them the bucket refuses would be up to the scheduler.
func (s *simulated) delay(n int64) time.Duration {
	if s.rate == 0 {
		return s.latency
	}
	return s.latency*3/4 + time.Duration(mix(uint64(n))%uint64(s.latency/2))
}

// take is a bucket that holds a tenth of a second's worth.
func (s *simulated) take() bool {
	if s.rate == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.filled.IsZero() {
		s.tokens = s.rate / 10
	} else {
		s.tokens = min(s.rate/10, s.tokens+s.rate*now.Sub(s.filled).Seconds())
	}
	s.filled = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

func (s *simulated) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if !s.take() {
		s.throttled.Add(1)
		return store.Page{}, store.ErrThrottled
	}
	time.Sleep(s.delay(s.requests.Add(1)))
	if ctx.Err() != nil {
		return store.Page{}, ctx.Err()
	}
	cursor := max(req.After, req.Token)
	i := sort.Search(s.n, func(i int) bool { k := s.key(i); return k > cursor && k >= req.Prefix })
	var page store.Page
	for i < s.n {
		k := s.key(i)
		if !strings.HasPrefix(k, req.Prefix) {
			break
		}
		if limit := s.pageSize; len(page.Entries) == limit && !req.Dirs || len(page.Entries) == 1000 {
			page.Next = page.Entries[len(page.Entries)-1].Listed()
			break
		}
		e := store.Info{Name: k}
		if slash := strings.IndexByte(k[len(req.Prefix):], '/'); req.Dirs && slash >= 0 {
			e = store.Info{Name: k[:len(req.Prefix)+slash], Kind: store.Dir}
			end := e.Name + "0"
			i += sort.Search(s.n-i, func(j int) bool { return s.key(i+j) >= end })
			if e.Listed() <= cursor {
				continue
			}
		} else {
			i++
		}
		page.Entries = append(page.Entries, e)
	}
	return page, nil
}

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// layouts are the key spaces that listings are measured on.
var layouts = map[string]func(n int) func(i int) string{
	"hive": func(n int) func(int) string {
		return func(i int) string {
			hour := i * 2400 / n
			return fmt.Sprintf("year=2023/month=%02d/day=%02d/hour=%02d/%s", hour/720+1, hour/24%30+1, hour%24, file(i))
		}
	},
	"random": func(n int) func(int) string {
		return func(i int) string {
			p := uint64(i) * (1 << 32) / uint64(n)
			return fmt.Sprintf("%02x/%02x/%s", p>>24, p>>16&0xff, file(i))
		}
	},
	"skew": func(n int) func(int) string {
		return func(i int) string {
			d := 50
			switch {
			case i < n/20:
				d = i * 50 / (n / 20)
			case i >= n-n/20:
				d = 51 + (i-(n-n/20))*49/(n/20)
			}
			return fmt.Sprintf("date=%03d/%s", min(d, 99), file(i))
		}
	},
	"wide": func(int) func(int) string {
		return func(i int) string { return fmt.Sprintf("id=%08d/%s", i/50, file(i)) }
	},
	"flat": func(int) func(int) string { return file },
	"hashed": func(n int) func(int) string { // 20 bits as binary directories, as Iceberg's object layout has them
		return func(i int) string {
			p := uint64(i) * (1 << 20) / uint64(n)
			return fmt.Sprintf("%04b/%04b/%04b/%08b/%s", p>>16, p>>12&15, p>>8&15, p&255, file(i))
		}
	},
	"uuid": func(n int) func(int) string { // one directory, random names
		return func(i int) string {
			return fmt.Sprintf("part-%016x-%08x.parquet", uint64(i)*(^uint64(0)/uint64(n)), mix(uint64(i))>>32)
		}
	},
	"deep": func(n int) func(int) string { // a directory for about every object
		return func(i int) string {
			return fmt.Sprintf("cust=%06d/day=2023-%02d-%02d/%s", i/360, i/30%12+1, i%30+1, file(i))
		}
	},
}

func file(i int) string {
	return fmt.Sprintf("part-%09d-%016x-c000.snappy.parquet", i, mix(uint64(i)))
}

type simResult struct {
	requests, pages float64
	rounds, ideal   float64
	throttled       float64
	st              Stats
}

// simulate lists a layout in virtual time.
func simulate(t *testing.T, layout string, n, pageSize, workers int, rate float64, seedShare int) simResult {
	t.Helper()
	var res simResult
	synctest.Test(t, func(t *testing.T) {
		s := &simulated{n: n, key: layouts[layout](n), pageSize: pageSize, latency: 50 * time.Millisecond, rate: rate}
		o := Options{Workers: workers}
		if seedShare > 0 {
			o.Expected = int64(n)
			for i := range 1000 {
				o.Seeds = append(o.Seeds, s.key(int(mix(uint64(i))%uint64(n))))
			}
		}
		var keys atomic.Int64
		start := time.Now()
		st, err := Walk(t.Context(), s, o, func(batch []store.Info) error {
			keys.Add(int64(len(batch)))
			return nil
		})
		if err != nil || keys.Load() != int64(n) {
			t.Fatalf("%s: %d keys of %d, %v", layout, keys.Load(), n, err)
		}
		res.st = st
		res.pages = float64((n + pageSize - 1) / pageSize)
		res.requests = float64(s.requests.Load())
		res.throttled = float64(s.throttled.Load()) / float64(s.requests.Load()+s.throttled.Load())
		res.rounds = time.Since(start).Seconds() / s.latency.Seconds()
		res.ideal = res.pages / float64(max(workers, 1))
		if rate > 0 {
			res.ideal = res.pages / rate / s.latency.Seconds()
		}
	})
	return res
}
