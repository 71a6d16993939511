package keyset

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
)

func TestSetNeverForgets(t *testing.T) {
	b := New()
	var wg sync.WaitGroup
	const n = 100_000
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < n; i += 4 {
				k := lake.Key(fmt.Sprintf("p=%d/f%d", i%7, i))
				if i%2 == 0 {
					b.AddExpected(k)
				}
				b.Add(k)
			}
		})
	}
	wg.Wait()
	s := b.Done()
	if s.Len() != n {
		t.Fatalf("%d keys, want %d", s.Len(), n)
	}
	strangers := 0
	for i := range n {
		k := lake.Key(fmt.Sprintf("p=%d/f%d", i%7, i))
		if !s.Has(k) {
			t.Fatalf("forgot %s", k)
		}
		if i%4 == 0 && (s.Seen(k) || !marks(s, k) || !s.Seen(k)) {
			t.Fatalf("mark of %s", k)
		}
		if s.Has(k + "x") {
			strangers++
		}
	}
	if all, marked := s.Expected(); all != n/2 || marked != n/4 {
		t.Errorf("expected %d, marked %d; want %d, %d", all, marked, n/2, n/4)
	}
	if strangers > 1 {
		t.Errorf("%d strangers of %d taken for members", strangers, n)
	}
}

func TestExactKeepsPartsApart(t *testing.T) {
	e := NewExact()
	if !e.Add("a", "bc") || !e.Add("ab", "c") || !e.Add("abc", "") || !e.Add("abc") || e.Add("ab", "c") || e.Has("a", "b", "c") {
		t.Error("parts run together")
	}
}

func BenchmarkSetHas(b *testing.B) {
	builder := New()
	for i := range 1_000_000 {
		builder.Add(lake.Key(fmt.Sprintf("year=2023/month=07/day=01/part-%09d.parquet", i)))
	}
	s, k := builder.Done(), lake.Key("year=2023/month=07/day=01/part-000000077.parquet")
	for b.Loop() {
		s.Has(k)
	}
}

// TestMarkAllIsMarkFirstOfEach compares them in sets of all sizes, in memory
// and on disk, with keys that come again.
func TestMarkAllIsMarkFirstOfEach(t *testing.T) {
	for _, n := range []int{0, 1, 50, 3000, 60_000} {
		for _, memory := range []int64{0, 200 << 10} {
			build := func() *Set {
				b := New()
				if memory > 0 {
					b = NewBounded(t.TempDir(), memory)
				}
				b.seed = 7 // the same collisions in both
				for i := range n {
					b.AddExpected(lake.Key(fmt.Sprint(i)))
				}
				s, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			one, all := build(), build()
			var keys []lake.Key
			for i := range 2000 {
				keys = append(keys, lake.Key(fmt.Sprint(i*i%(n+n/8+10))))
			}
			found := make([]Found, len(keys))
			all.MarkAll(keys, found)
			for i, k := range keys {
				has, first := one.MarkFirst(k)
				if found[i] != (Found{has, first}) || all.Seen(k) != one.Seen(k) {
					t.Fatalf("%d keys, memory %d: %q is %+v, want %v %v", n, memory, k, found[i], has, first)
				}
			}
			for _, s := range []*Set{one, all} {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A set built by batches is the one that single adds build, spilled or not.
func TestBatchesAddWhatSingleAddsDo(t *testing.T) {
	const n = 20_000 // more than some batches hold
	for name, b := range map[string]*Builder{"in memory": New(), "spilled": NewBounded(t.TempDir(), 150_000)} {
		var workers sync.WaitGroup
		for w := range 3 {
			workers.Go(func() {
				batch := NewBatch(b)
				for i := w; i < n; i += 3 {
					if i%2 == 0 {
						batch.AddExpected(key(i))
					} else {
						batch.Add(key(i))
					}
					batch.Add(key(i / 2)) // twice, in another batch too
				}
				batch.Flush()
				batch.Flush()
			})
		}
		workers.Wait()
		s, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, _ := s.Expected()
		if s.Len() != n || all != n/2 || s.Spilled() != (name == "spilled") {
			t.Errorf("%s: %d keys, %d expected, spilled %v", name, s.Len(), all, s.Spilled())
		}
		for i := range n {
			if !s.Has(key(i)) || s.Expects(key(i)) != (i%2 == 0) {
				t.Fatalf("%s: key %d", name, i)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	keys := make([]lake.Key, 500_000)
	for i := range keys {
		keys[i] = lake.Key(fmt.Sprintf("year=2023/month=07/day=01/hour=%02d/part-%05d-%016x.c000.snappy.parquet", i%24, i, i*0x9e3779b9))
	}
	for name, add := range map[string]func(*Builder){
		"single": func(s *Builder) {
			for _, k := range keys {
				s.AddExpected(k)
			}
		},
		"batch": func(s *Builder) {
			batch := NewBatch(s)
			for _, k := range keys {
				batch.AddExpected(k)
			}
			batch.Flush()
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				add(New())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
		})
	}
}

func BenchmarkMarkAll(b *testing.B) {
	builder := New()
	keys := make([]lake.Key, 500_000)
	for i := range keys {
		keys[i] = lake.Key(fmt.Sprintf("year=2023/month=07/day=01/hour=%02d/part-%05d-%016x.c000.snappy.parquet", i%24, i, i*0x9e3779b9))
		builder.AddExpected(keys[i])
	}
	s, found := builder.Done(), make([]Found, 1000)
	for b.Loop() {
		for page := range slices.Chunk(keys, len(found)) {
			s.MarkAll(page, found)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
}

func marks(s *Set, k lake.Key) bool {
	has, _ := s.MarkFirst(k)
	return has
}
