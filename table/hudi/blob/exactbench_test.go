package blob_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// BenchmarkSpelling judges 20 candidates against 20 files of 40,000 references
// each, 2.5 MiB of paths, of which two refer to one, and reports what a file
// takes. In "sorted" each file holds a range of paths; in "mixed" any may hold
// any, so that Bloom filters alone rule files out.
func BenchmarkSpelling(b *testing.B) {
	const files, refs = 20, 40_000
	for _, layout := range []string{"sorted", "mixed"} {
		w := newWorld(b)
		for f := range files {
			from, to, step := f*refs, (f+1)*refs, 1
			if layout == "mixed" {
				from, to, step = f, files*refs, files
			}
			w.add(Laid(b, Layout{Bits: 16, Pad: 80}, longs(from, to, step)...), "")
		}
		candidates := []lake.BlobID{long(3), long(files*refs/2 + 1)}
		for i := range 18 {
			candidates = append(candidates, long(i*files*refs/18)+"x")
		}
		slices.Sort(candidates)
		for _, exact := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/exact=%t", layout, exact), func(b *testing.B) {
				w.o.Exact = exact
				before, n := w.meter.Usage().Open, 0
				var r *blob.Round
				for b.Loop() {
					r = w.judge(candidates...)
					n += files
				}
				u := w.meter.Usage().Open
				b.ReportMetric(float64(u.Bytes-before.Bytes)/float64(n)/(1<<10), "KiB/file")
				b.ReportMetric(float64(u.Requests-before.Requests)/float64(n), "requests/file")
				b.ReportMetric(float64(r.Ruled), "ruled-out")
				if r.Of(long(3)).Fate != blob.Referenced || r.Of(candidates[0]).Fate != blob.Unreferenced {
					b.Fatalf("%+v", r)
				}
			})
		}
	}
}
