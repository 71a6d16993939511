package keyset

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
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

// Whatever comes at once: each string is new once, where it comes first, and
// the zero print never is.
func TestExactTakesManyAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, many := NewExact(), NewExact()
		for _, names := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(-1, 700), 0, 900), 0, 4).Draw(t, "batches") {
			prints, fresh := make([]Print, len(names)), make([]bool, len(names))
			for i, n := range names {
				if n >= 0 {
					prints[i] = many.Print("name", strconv.Itoa(n))
				}
			}
			many.AddAll(prints, fresh)
			for i, n := range names {
				if want := n >= 0 && one.Add("name", strconv.Itoa(n)); fresh[i] != want {
					t.Fatalf("%d at %d: new %v, want %v", n, i, fresh[i], want)
				}
				if n >= 0 && (!many.HasPrint(prints[i]) || !many.Has("name", strconv.Itoa(n))) {
					t.Fatalf("%d at %d was forgotten", n, i)
				}
			}
			if one.Len() != many.Len() || many.HasPrint(Print{}) {
				t.Fatalf("%d of %d, the zero print: %v", many.Len(), one.Len(), many.HasPrint(Print{}))
			}
		}
	})
}

func BenchmarkExactAddAll(b *testing.B) {
	e, i := NewExact(), 0
	prints, fresh := make([]Print, 1024), make([]bool, 1024)
	for b.Loop() {
		for j := range prints {
			prints[j] = e.Print("year=2023/month=07/day=01/hour=00/part-" + strconv.Itoa(i))
			i++
		}
		e.AddAll(prints, fresh)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i), "ns/key")
}

func BenchmarkExactAdd(b *testing.B) {
	e, i := NewExact(), 0
	for b.Loop() {
		e.Add("year=2023/month=07/day=01/hour=00/part-" + strconv.Itoa(i))
		i++
	}
}
