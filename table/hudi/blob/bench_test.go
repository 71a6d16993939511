package blob

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
)

// BenchmarkCandidates judges 10 million candidates against no file and reports
// the memory that stays in use, and the most that the machine gave the process:
// run one of the two at a time.
func BenchmarkCandidates(b *testing.B) {
	const n = 10_000_000
	names, err := lake.NewBlobNames(lake.BlobOptions{Table: lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}})
	if err != nil {
		b.Fatal(err)
	}
	candidates := func(yield func(lake.BlobID, error) bool) {
		for i := range n {
			if !yield(lake.BlobID(fmt.Sprintf("s3://media/videos/2026/%08d.mp4", i)), nil) {
				return
			}
		}
	}
	for _, exact := range []bool{false, true} {
		b.Run(fmt.Sprintf("exact=%t", exact), func(b *testing.B) {
			for b.Loop() {
				r, err := NewJudge(Options{Names: names, Exact: exact}).Judge(b.Context(), candidates)
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/n, "B/candidate")
				b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-peak")
				runtime.KeepAlive(r)
			}
		})
	}
}
