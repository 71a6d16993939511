package listing

import (
	"context"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

// Report is the document of `lakesweep bench list`.
type Report struct {
	Keys          int64   `json:"keys"`
	Seconds       float64 `json:"seconds"`
	KeysPerSecond float64 `json:"keys_per_second"`
	Requests      int64   `json:"requests"`       // pages, and directories where they are listed one by one
	Pages         int64   `json:"pages"`          // the fewest requests that could list as many keys; 0 where directories are listed
	Ratio         float64 `json:"requests_ratio"` // requests ÷ pages; 0 if there are none
	Skeleton      int64   `json:"skeleton_requests"`
	Splits        int64   `json:"splits"`
	Ranges        int64   `json:"ranges"`
	Directories   int64   `json:"directories"`
	Wasted        int64   `json:"wasted_requests"`
	Throttled     int64   `json:"throttled_requests"`
	Retried       int64   `json:"retried_requests"`
	Workers       int     `json:"workers"` // the most at one time
	Serial        bool    `json:"serial"`
	Rate          float64 `json:"request_rate"`         // the limit assumed, requests a second
	LimitSeconds  float64 `json:"request_rate_seconds"` // the time that this limit alone would need for these pages or directories
}

// S3ListRate is the rate of requests that one partition of an S3 bucket is sure
// to take, and what Bench compares with where no other limit is given.
//
// Source: Amazon S3 User Guide, "Best practices design patterns: optimizing Amazon S3 performance".
const S3ListRate = 3500

// Bench lists everything as Walk does, drops it, and reports how fast it was.
// rate is the store's limit in requests a second, 0 for S3ListRate.
//
// Errors: as Walk; the report then covers what was done.
func Bench(ctx context.Context, r store.Reader, o Options, rate float64, now func() time.Time) (Report, error) {
	if rate <= 0 {
		rate = S3ListRate
	}
	start := now()
	st, err := Walk(ctx, r, o, func([]store.Info) error { return nil })
	rep := Report{
		Keys: st.Keys, Seconds: now().Sub(start).Seconds(), Requests: st.Requests, Skeleton: st.Skeleton,
		Splits: st.Splits, Ranges: st.Ranges, Directories: st.Directories, Wasted: st.Wasted,
		Throttled: st.Throttled, Retried: st.Retried, Workers: st.Workers, Serial: st.Serial, Rate: rate,
	}
	if rep.Seconds > 0 {
		rep.KeysPerSecond = float64(rep.Keys) / rep.Seconds
	}
	least := rep.Requests
	if t := r.Traits(); !Fans(t) {
		size := int64(max(1, t.PageSize))
		rep.Pages = max(1, (rep.Keys+size-1)/size)
		rep.Ratio = float64(rep.Requests) / float64(rep.Pages)
		least = rep.Pages
	}
	rep.LimitSeconds = float64(least) / rate
	return rep, err
}
