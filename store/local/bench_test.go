package local_test

import (
	"os"
	"testing"

	"github.com/lakesweep/lakesweep/store"
)

func BenchmarkWalk(b *testing.B) {
	dir := os.Getenv("LAKESWEEP_BENCH_DIR")
	if dir == "" {
		b.Skip("LAKESWEEP_BENCH_DIR names no tree")
	}
	s := open(b, dir)
	n := 0
	for b.Loop() {
		n = 0
		for todo := []string{""}; len(todo) > 0; {
			prefix := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for req := (store.PageRequest{Prefix: prefix, Dirs: true}); ; {
				page, err := s.List(b.Context(), req)
				if err != nil {
					b.Fatal(err)
				}
				for _, e := range page.Entries {
					if e.Kind == store.Dir {
						todo = append(todo, e.Listed())
					}
					n++
				}
				if req.Token = page.Next; req.Token == "" {
					break
				}
			}
		}
	}
	b.ReportMetric(float64(n), "entries")
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
