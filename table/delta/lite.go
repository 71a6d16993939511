package delta

import (
	"context"
	"iter"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Watermark is what _last_vacuum_info says. A nil Version means none.
type Watermark struct {
	Version  *int64    // the last version whose removed files are gone
	LastFull time.Time // when a complete full run of lakesweep ended; zero if unknown, and after any run of Spark's
}

// ReadWatermark reads _last_vacuum_info. A missing or unreadable one is the
// zero Watermark.
func (t *Table) ReadWatermark(ctx context.Context) (Watermark, error) { return Watermark{}, nil }

// LiteRequest asks for the verdicts that the log alone gives.
type LiteRequest struct {
	Cutoff    time.Time
	Watermark Watermark
}

// LiteRange is the versions that LITE covers.
type LiteRange struct {
	First, Last int64  // inclusive; First > Last: nothing to do
	Next        *int64 // the watermark after a complete run of LITE or FULL; nil: unchanged
}

// LiteRange computes the range of LITE.
//
// Errors: Refused with code lite_unproved where commits are gone that no run covered.
// Source: spec/delta-vacuum.md 3.5.
func (t *Table) LiteRange(req LiteRequest) (LiteRange, error) { return LiteRange{}, nil }

// Lite yields what the commits of the range removed before the cutoff and p
// doesn't protect, each key once: data files, deletion vectors, change data.
// Storage times are unknown; apply stats each.
//
// Errors: as LiteRange; Damaged.
func (t *Table) Lite(ctx context.Context, req LiteRequest, p *Protection) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {}
}
