package delta_test

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/delta"
)

// BenchmarkProtect opens and replays the table in the folder that
// LAKESWEEP_BENCH_TABLE names, as a dry run does.
func BenchmarkProtect(b *testing.B) {
	dir := os.Getenv("LAKESWEEP_BENCH_TABLE")
	if dir == "" {
		b.Skip("LAKESWEEP_BENCH_TABLE names no table")
	}
	root, err := lake.ParseRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	var files int64
	for b.Loop() {
		s, err := local.Open(b.Context(), root)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		t, err := delta.Open(b.Context(), store.ReadOnly(s), root, delta.Options{})
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(start)
		p, err := t.Protect(b.Context(), delta.ProtectRequest{Cutoff: time.Now().Add(-7 * 24 * time.Hour),
			Partitions: os.Getenv("LAKESWEEP_BENCH_PARTITIONS") != ""})
		if err != nil {
			b.Fatal(err)
		}
		files = p.LiveFiles
		b.ReportMetric(opened.Seconds(), "open-s")
		runtime.KeepAlive(p)
	}
	b.ReportMetric(float64(files)*float64(b.N)/b.Elapsed().Seconds(), "adds/s")
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		line, _, _ := strings.Cut(rest, "\n")
		b.Log("peak memory", strings.TrimSpace(line))
	}
}
