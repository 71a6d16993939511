// Command listing measures listings of one S3 place: by listing.Walk without
// and with seeds, and by the same decoder over ranges known beforehand, which
// is the best that the machine could do. It prints one JSON object a run.
//
//	listing -endpoint http://127.0.0.1:9099 -place s3://bench/t
//
// Runs alternate, so that their ratio means something on a machine that others use too.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/s3"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "listing:", err)
		os.Exit(1)
	}
}

// result is one run.
type result struct {
	Run           string  `json:"run"`
	Seconds       float64 `json:"seconds"`
	CPU           float64 `json:"cpu_seconds"` // of this process
	Keys          int64   `json:"keys"`
	KeysPerSecond float64 `json:"keys_per_second"`
	Requests      int64   `json:"requests"`
	Pages         int64   `json:"pages"` // the fewest requests that could list as many keys
	Ratio         float64 `json:"requests_ratio"`
	Skeleton      int64   `json:"skeleton_requests"`
	Splits        int64   `json:"splits"`
	Wasted        int64   `json:"wasted_requests"`
	Throttled     int64   `json:"throttled_requests"`
	Workers       int     `json:"workers"`
	PeakMiB       int64   `json:"peak_rss_mib"`         // of this process, so far
	LimitSeconds  float64 `json:"request_rate_seconds"` // that the request limit alone would need for these pages
}

func run(ctx context.Context) error {
	endpoint := flag.String("endpoint", "http://127.0.0.1:9099", "the server")
	place := flag.String("place", "s3://bench/t", "what to list")
	rate := flag.Float64("rate", 3500, "the server's limit, requests a second")
	rounds := flag.Int("rounds", 1, "times to repeat all runs")
	runs := flag.String("runs", "walk,known,seeded", "which runs, in this order; known and seeded need walk before")
	workers := flag.Int("known-workers", 128, "workers of the run over known ranges")
	seeds := flag.Int("seeds", 4096, "names given to the seeded run")
	wrapped := flag.Bool("wrapped", true, "retry and pace as the command line does")
	flag.Parse()

	root, err := lake.ParsePlace(*place)
	if err != nil {
		return err
	}
	opener := s3.New(s3.Options{Endpoint: *endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")})
	st, err := opener.Open(ctx, root)
	if err != nil {
		return err
	}
	var meter store.Meter
	st = meter.Wrap(st)
	if *wrapped {
		st = store.Retry(store.NewPacer(store.PaceOptions{}).Pace(st), store.RetryOptions{})
	}
	r := store.ReadOnly(st)

	var sample []string
	for range *rounds {
		for _, name := range strings.Split(*runs, ",") {
			runtime.GC()
			cpu, throttled, start := cpuSeconds(), meter.Usage().List.Throttled, time.Now()
			var st listing.Stats
			switch name {
			case "walk":
				st, sample, err = sampled(ctx, r)
			case "known":
				st, err = known(ctx, r, sample, *workers)
			case "seeded":
				o := listing.Options{Expected: int64(len(sample)) * pageKeys}
				for range *seeds {
					o.Seeds = append(o.Seeds, sample[rand.IntN(len(sample))])
				}
				st, err = listing.Walk(ctx, r, o, drop)
			default:
				err = fmt.Errorf("unknown run %q", name)
			}
			if err != nil {
				return err
			}
			seconds, pages := time.Since(start).Seconds(), (st.Keys+pageKeys-1)/pageKeys
			if err := json.NewEncoder(os.Stdout).Encode(result{
				Run: name, Seconds: seconds, CPU: cpuSeconds() - cpu, Keys: st.Keys, KeysPerSecond: float64(st.Keys) / seconds,
				Requests: st.Requests, Pages: pages, Ratio: float64(st.Requests) / float64(max(pages, 1)),
				Skeleton: st.Skeleton, Splits: st.Splits, Wasted: st.Wasted, Throttled: meter.Usage().List.Throttled - throttled,
				Workers: st.Workers, PeakMiB: peak(), LimitSeconds: float64(pages) / *rate,
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageKeys is S3's page.
const pageKeys = 1000

func drop([]store.Info) error { return nil }

// sampled walks and keeps the last name of each page.
func sampled(ctx context.Context, r store.Reader) (listing.Stats, []string, error) {
	var mu sync.Mutex
	var names []string
	keep := recorder{r, func(p store.Page) {
		if n := len(p.Entries); n > 0 {
			mu.Lock()
			defer mu.Unlock()
			names = append(names, strings.Clone(p.Entries[n-1].Name))
		}
	}}
	st, err := listing.Walk(ctx, keep, listing.Options{}, drop)
	slices.Sort(names)
	return st, slices.Compact(names), err
}

type recorder struct {
	store.Reader
	page func(store.Page)
}

func (r recorder) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	p, err := r.Reader.List(ctx, req)
	if err == nil && !req.Dirs {
		r.page(p)
	}
	return p, err
}

// known lists ranges of equal size, known beforehand, and drops the names.
func known(ctx context.Context, r store.Reader, sample []string, workers int) (listing.Stats, error) {
	var keys, requests atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for w := range workers {
		after, end := "", ""
		if w > 0 {
			after = sample[w*len(sample)/workers]
		}
		if w < workers-1 {
			end = sample[(w+1)*len(sample)/workers]
		}
		g.Go(func() error {
			for req := (store.PageRequest{After: after}); ; {
				page, err := r.List(ctx, req)
				if err != nil {
					return err
				}
				requests.Add(1)
				n := len(page.Entries)
				for end != "" && n > 0 && page.Entries[n-1].Name > end {
					n--
				}
				keys.Add(int64(n))
				if page.Next == "" || n == 0 || page.Entries[n-1].Name == end || n < len(page.Entries) {
					return nil
				}
				req = store.PageRequest{Token: page.Next}
			}
		})
	}
	err := g.Wait()
	return listing.Stats{Keys: keys.Load(), Requests: requests.Load(), Workers: workers}, err
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

func peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss >> 10
}
