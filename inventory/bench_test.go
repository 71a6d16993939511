package inventory

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// BenchmarkReport reads the report that LAKESWEEP_INVENTORY names, such as one
// of bench/mkinventory, and resolves its rows against the table in it.
func BenchmarkReport(b *testing.B) {
	source := os.Getenv("LAKESWEEP_INVENTORY")
	if source == "" {
		b.Skip("set LAKESWEEP_INVENTORY to a list, such as one that bench/mkinventory writes")
	}
	root, err := lake.ParseRoot("s3://example-lake/warehouse/sales/events")
	if err != nil {
		b.Fatal(err)
	}
	var rows atomic.Int64
	for b.Loop() {
		s, err := Open(b.Context(), Options{Source: source, Stores: stores(), Now: now})
		if err != nil {
			b.Fatal(err)
		}
		r, err := NewResolver([]lake.Root{root}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Scan(b.Context(), r, func(_ int, objects []store.Info) error {
			rows.Add(int64(len(objects)))
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows.Load())/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// peakMiB returns the most memory that the process ever had, 0 where the
// system doesn't say.
func peakMiB(b *testing.B) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}
