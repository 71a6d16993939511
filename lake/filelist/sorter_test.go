package filelist

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
)

// The oracle sorts a slice.
func oracle(vs []lake.Verdict) []lake.Verdict {
	out := slices.Clone(vs)
	slices.SortFunc(out, func(a, b lake.Verdict) int {
		return cmp.Or(strings.Compare(string(a.Key)+a.URI, string(b.Key)+b.URI), bytes.Compare(appendVerdict(nil, &a), appendVerdict(nil, &b)))
	})
	return out
}

func TestSorterEqualsSort(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(anyVerdict(), 0, 60).Draw(t, "verdicts")
		s := NewSorter(dir, 0)
		s.budget = rapid.SampledFrom([]int{1, 300, 2000, 1 << 20}).Draw(t, "budget")
		var adders errgroup.Group
		for batch := range slices.Chunk(vs, rapid.IntRange(1, 20).Draw(t, "batch")) {
			adders.Go(func() error { return s.AddAll(batch) })
		}
		if err := adders.Wait(); err != nil {
			t.Fatal(err)
		}
		want := oracle(vs)
		for range 2 { // it can be read again
			got, err := collect(s.Sorted())
			if diff := gocmp.Diff(want, got); err != nil || diff != "" && len(vs) > 0 {
				t.Fatal(err, diff)
			}
			var visited []lake.Verdict
			err = s.Visit(func(r Packed) error {
				v, err := r.Verdict()
				if string(r.Path()) != string(v.Key)+v.URI {
					t.Fatalf("%q for %v", r.Path(), v)
				}
				visited = append(visited, v)
				return err
			})
			if diff := gocmp.Diff(got, visited); err != nil || diff != "" {
				t.Fatal(err, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
}

func TestSorterMergesManyRuns(t *testing.T) {
	s := NewSorter(t.TempDir(), 0)
	defer s.Close()
	s.budget = 2 << 10
	const n = 20_000
	for i := range n {
		if err := s.Add(lake.Verdict{Key: lake.Key(fmt.Sprint(rand.IntN(n / 2))), Size: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if s.made < 2*fanIn {
		t.Fatalf("only %d runs were made: the test doesn't reach the second pass", s.made)
	}
	var last lake.Verdict
	count := 0
	for v, err := range s.Sorted() {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count > 1 && last.Key > v.Key {
			t.Fatalf("%v before %v", last, v)
		}
		last = v
	}
	if len(s.runs) > fanIn {
		t.Fatalf("%d runs to merge at once", len(s.runs))
	}
	if count != n || s.Len() != n {
		t.Fatal(count)
	}
}

func TestSorterReportsALostRun(t *testing.T) {
	dir := t.TempDir()
	s := NewSorter(dir, 0)
	s.budget = 1
	for _, k := range []lake.Key{"b", "a", "c"} {
		if err := s.Add(lake.Verdict{Key: k}); err != nil {
			t.Fatal(err)
		}
	}
	for i, spoil := range []func(string) error{
		func(name string) error { return os.Truncate(name, 2) },
		os.Remove,
	} {
		if err := spoil(s.runs[0]); err != nil {
			t.Fatal(err)
		}
		if got, err := collect(s.Sorted()); err == nil || lake.HintOf(err) == "" {
			t.Fatalf("%d: %v, %v", i, got, err)
		}
		s.err = nil
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(lake.Verdict{Key: "x"}); err == nil {
		t.Fatal("added to a closed sorter")
	}
}

func BenchmarkSorter(b *testing.B) {
	s := NewSorter(b.TempDir(), 64<<20)
	for i := 0; b.Loop(); i++ {
		if err := s.Add(lake.Verdict{Key: lake.Key(fmt.Sprintf("year=2023/month=07/day=%02d/part-%016x.parquet", i%31, rand.Uint64())), Size: 1, Reason: lake.Orphan}); err != nil {
			b.Fatal(err)
		}
	}
}

// What is sorted may be read by several at once, in memory and from runs.
func TestSeveralReadWhatIsSorted(t *testing.T) {
	var vs []lake.Verdict
	for i := range 3000 {
		vs = append(vs, lake.Verdict{Key: lake.Key(fmt.Sprintf("p=%d/f%d", i%7, i*7919%3000)), Size: int64(i), Reason: lake.Orphan})
	}
	want := oracle(vs)
	for _, budget := range []int{1 << 20, 10_000} {
		s := NewSorter(t.TempDir(), 0)
		s.budget = budget
		var adders, readers errgroup.Group
		for batch := range slices.Chunk(vs, 100) {
			adders.Go(func() error { return s.AddAll(batch) })
		}
		if err := adders.Wait(); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			readers.Go(func() error {
				got, err := collect(s.Sorted())
				if err == nil && !reflect.DeepEqual(want, got) {
					err = fmt.Errorf("budget %d: %d rows, not the %d in order", budget, len(got), len(want))
				}
				return err
			})
		}
		if err := readers.Wait(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
