package hudi

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// bigTable makes a table of partitions × groups file groups with four slices
// each, without a metadata table.
func bigTable(b *testing.B, partitions, groups int) *mem.Store {
	s := mem.New(mem.Options{})
	m := &model{t: b, version: 9, put: s.Put, now: modelStart}
	s.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=big\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.partition.fields=p\nhoodie.table.timeline.timezone=UTC\n"), m.now)
	var times []string
	for range 4 {
		times = append(times, m.tick())
	}
	for p := range partitions {
		dir := fmt.Sprintf("p=%05d", p)
		s.Put(dir+"/.hoodie_partition_metadata", []byte("x"), m.now)
		for g := range groups {
			for _, at := range times {
				s.PutSized(fmt.Sprintf("%s/%08x-%04x-4000-8000-000000000000-0_%d-1-2_%s.parquet", dir, p, g, g, at), 1<<20, m.now)
			}
		}
	}
	for _, at := range times {
		m.instant(at, timeline.Commit, timeline.Requested, "", nil)
		m.instant(at, timeline.Commit, timeline.Inflight, "", nil)
		m.instant(at, timeline.Commit, timeline.Completed, at, nil)
	}
	return s
}

// BenchmarkPlan plans a full clean of 50,000 file groups in 1,000 partitions.
// It reports the requests and the memory that stays in use.
func BenchmarkPlan(b *testing.B) {
	s := bigTable(b, 1000, 50)
	var m runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := m.HeapAlloc
		t, err := Open(b.Context(), s, lake.Root{Scheme: "mem", Path: "t"}, Options{Now: func() time.Time { return modelStart.Add(9 * time.Hour) }})
		if err != nil {
			b.Fatal(err)
		}
		c := retain.NewConfig()
		c.Commits = 1
		p, err := t.Plan(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		n, peak := 0, uint64(0)
		for _, err := range p.Verdicts(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n%10_000 == 0 {
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc-before)
			}
		}
		if n != 100_000 {
			b.Fatalf("%d dead", n)
		}
		b.ReportMetric(float64(p.Summary.ListRequests), "requests")
		b.ReportMetric(float64(peak)/1e6, "MB-heap")
	}
}
