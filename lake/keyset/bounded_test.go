package keyset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
)

func key(i int) lake.Key { return lake.Key(fmt.Sprintf("p=%d/f%d", i%7, i)) }

// filled adds keys 0 to n, every third twice, every second expected.
func filled(b *Builder, n int) {
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := w; i < n; i += 4 {
				if i%2 == 0 {
					b.AddExpected(key(i))
				} else {
					b.Add(key(i))
				}
				if i%3 == 0 {
					b.Add(key(i))
				}
			}
		})
	}
	workers.Wait()
}

func TestASpilledSetAnswersAsOneInMemory(t *testing.T) {
	const n = 200_000 // more than fits
	dir := t.TempDir()
	b := NewBounded(dir, 1<<20)
	filled(b, n)
	s, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Spilled() || s.Len() != n {
		t.Fatalf("spilled %v, %d keys", s.Spilled(), s.Len())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files with a name: %v, %v", left, err)
	}
	strangers := 0
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			if !s.Has(key(i)) {
				t.Fatalf("forgot %s", key(i))
			}
			if i%4 == 0 && (s.Seen(key(i)) || !marks(s, key(i)) || !s.Seen(key(i))) {
				t.Fatalf("mark of %s", key(i))
			}
			if s.Has(key(i) + "x") {
				strangers++
			}
		}
	}
	ask(0, n/20)
	for i := range Shards {
		if err := s.Pin(i); err != nil {
			t.Fatal(err)
		}
	}
	ask(n/20, n)
	for i := range Shards {
		s.Unpin(i)
	}
	if all, marked := s.Expected(); all != n/2 || marked != n/4 || s.Len() != n {
		t.Errorf("expected %d, marked %d, %d keys", all, marked, s.Len())
	}
	if strangers > 1 || s.Err() != nil {
		t.Errorf("%d strangers, %v", strangers, s.Err())
	}
}

func TestASmallBoundedSetStaysInMemory(t *testing.T) {
	b := NewBounded(t.TempDir(), 1<<30)
	filled(b, 1000)
	if s, err := b.Finish(); err != nil || s.Spilled() || s.Len() != 1000 || !s.Has(key(999)) || s.Pin(3) != nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestWhatCantBeLookedUpIsKept(t *testing.T) {
	b := NewBounded(t.TempDir(), 1<<20)
	filled(b, 200_000)
	s, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !s.Has("stranger") || !marks(s, "stranger") || s.Seen(key(0)) || s.Err() == nil || s.Pin(0) == nil {
		t.Errorf("a set without its file: %v", s.Err())
	}
}

func TestAFullDiskGivesNoSet(t *testing.T) {
	b := NewBounded("/nonexistent", 1<<20)
	filled(b, 200_000)
	if s, err := b.Finish(); s != nil || lake.KindOf(err) != lake.Internal || err == nil || lake.HintOf(err) == "" {
		t.Errorf("%v, %v", s, err)
	}
}

func BenchmarkSpilledHas(b *testing.B) {
	builder := NewBounded(b.TempDir(), 1<<20)
	for i := range 1_000_000 {
		builder.Add(key(i))
	}
	s, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		s.Has(key(rand.IntN(2_000_000)))
	}
}
