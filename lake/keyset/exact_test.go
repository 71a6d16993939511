package keyset

import (
	"strconv"
	"testing"
)

func TestExactIsASet(t *testing.T) {
	e := NewExact()
	if e.Has("0") {
		t.Error("an empty set has something")
	}
	const n = 50_000
	for i := range n {
		s := strconv.Itoa(i)
		if e.Has(s) || !e.Add(s) || e.Add(s) || !e.Has(s) || e.Len() != i+1 {
			t.Fatalf("at %d", i)
		}
	}
	for i := range 2 * n {
		if got := e.Has(strconv.Itoa(i)); got != (i < n) {
			t.Fatalf("has %d: %v", i, got)
		}
	}
}

func BenchmarkExactAdd(b *testing.B) {
	e, i := NewExact(), 0
	for b.Loop() {
		e.Add("year=2023/month=07/day=01/hour=00/part-" + strconv.Itoa(i))
		i++
	}
}
