package report

import (
	"fmt"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// manyRows yields n rows in byte order.
func manyRows(n int) iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		at := time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC)
		for i := range n {
			if !yield(lake.Verdict{Key: lake.Key(fmt.Sprintf("day=2026-01-01/part-%08d-0123456789ab.parquet", i)), Size: 1 << 20, Modified: at,
				Reason: lake.Tombstone, Partition: lake.Partition{{Column: "day", Value: "2026-01-01"}}, Tombstone: at}, nil) {
				return
			}
		}
	}
}

func BenchmarkRows(b *testing.B) {
	for _, format := range []Format{Text, JSON, JSONL, CSV, Paths} {
		b.Run(string(format), func(b *testing.B) {
			const n = 100_000
			b.ReportAllocs()
			for b.Loop() {
				if err := New(io.Discard, Options{Format: format, Now: time.Now()}).Plan(Plan{Rows: manyRows(n)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
