package listing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// partitioned is a random table on a flat store: its live files, which the log
// knows, and everything else that lies there.
type partitioned struct {
	live, other []string
	wanted      func(dir string) Reach
}

// anyPartitioned draws a table of one to three partition columns, partitions of
// very different sizes, directories that the log doesn't know, files at odd
// places, and a predicate on some columns.
func anyPartitioned(t *rapid.T) partitioned {
	var p partitioned
	depth := rapid.IntRange(1, 3).Draw(t, "depth")
	column := rapid.SampledFrom([]string{"p", "P", "_p"}).Draw(t, "column")
	width := rapid.IntRange(1, 30/depth).Draw(t, "width")
	var fill func(dir string, level int)
	fill = func(dir string, level int) {
		if level < depth {
			for v := range width {
				if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
					fill(fmt.Sprintf("%s%s%d=%02d/", dir, column, level, v), level+1)
				}
			}
			return
		}
		size := rapid.SampledFrom([]int{0, 1, 3, 10, 60}).Draw(t, "size")
		for i := range rapid.IntRange(0, size).Draw(t, "live") {
			p.live = append(p.live, fmt.Sprintf("%sf%03d", dir, i))
		}
		for i := range rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "orphans") {
			p.other = append(p.other, fmt.Sprintf("%so%03d", dir, i))
		}
	}
	fill("", 0)
	for i := range rapid.IntRange(1, 40).Draw(t, "log") {
		p.other = append(p.other, fmt.Sprintf("_delta_log/%020d.json", i))
	}
	for i := range rapid.SampledFrom([]int{0, 0, 2, 50}).Draw(t, "strays") {
		p.other = append(p.other, fmt.Sprintf(rapid.SampledFrom([]string{"A%d", "x%d/y", "p0=1%d", "~%d"}).Draw(t, "stray"), i))
	}
	want := make([][]bool, depth)
	for level := range want {
		share := rapid.SampledFrom([]int{1, 1, 5, 20}).Draw(t, "share")
		for range width {
			want[level] = append(want[level], rapid.IntRange(1, share).Draw(t, "want") == 1)
		}
	}
	whole := rapid.Bool().Draw(t, "whole")
	p.wanted = func(dir string) Reach {
		levels := strings.Split(dir, "/")
		for level, name := range levels {
			if level >= depth || !strings.HasPrefix(name, fmt.Sprintf("%s%d=", column, level)) {
				return Part // not a partition: whatever lies there has to be looked at
			}
			v := 0
			if _, err := fmt.Sscanf(name[strings.IndexByte(name, '=')+1:], "%d", &v); err != nil || v >= width || !want[level][v] {
				return Nothing
			}
		}
		if whole && len(levels) == depth {
			return Whole
		}
		return Part
	}
	return p
}

// names returns those of a listing that the predicate wants, sorted.
func (p *partitioned) names(got []string) (wanted []string) {
next:
	for _, n := range got {
		if strings.HasPrefix(n, "_delta_log/") {
			continue
		}
		for i, c := range n {
			if c == '/' && p.wanted(n[:i]) == Nothing {
				continue next
			}
		}
		wanted = append(wanted, n)
	}
	slices.Sort(wanted)
	return wanted
}

// A pruned listing shows all that is wanted, each name once, and takes no more
// requests than the whole listing of the same table.
func TestPruningNeverTakesMoreRequests(t *testing.T) {
	tables, fewer := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := anyPartitioned(rt)
		traits := mem.Default()
		traits.PageSize = rapid.SampledFrom([]int{1, 2, 5, 20, 100}).Draw(rt, "page")
		s := filled(mem.Options{Traits: traits}, append(slices.Clone(p.live), p.other...))
		known := p.live // by the log
		switch rapid.IntRange(0, 3).Draw(rt, "known") {
		case 0:
			known = nil
		case 1:
			known = known[:len(known)/3]
		}
		o := Options{Workers: 1, Within: Except("_delta_log"), Seeds: known, Expected: int64(len(known))}
		run := func(o Options) ([]string, Stats) {
			var got collector
			st, err := Walk(t.Context(), s, o, func(batch []store.Info) error {
				return got.emit(slices.DeleteFunc(slices.Clone(batch), func(e store.Info) bool { return e.Kind == store.Dir }))
			})
			if err != nil {
				rt.Fatal(err)
			}
			return got.sorted(), st
		}
		all, whole := run(o)
		o.Reach = p.wanted
		some, pruned := run(o)
		if len(slices.Compact(slices.Clone(some))) != len(some) {
			rt.Fatalf("a name came twice: %q", some)
		}
		if want, got := p.names(all), p.names(some); !slices.Equal(want, got) {
			rt.Fatalf("got %q\nwant %q", got, want)
		}
		if pruned.Requests > whole.Requests {
			rt.Fatalf("%d requests, %d for everything: %+v; page %d, live %q, other %q, wanted %q", pruned.Requests, whole.Requests, pruned, traits.PageSize, p.live, p.other, p.names(all))
		}
		if tables++; pruned.Requests < whole.Requests {
			fewer++
		}
	})
	t.Logf("%d of %d tables took fewer requests", fewer, tables)
	if fewer < tables/20 && !testing.Short() {
		t.Errorf("only %d of %d tables took fewer requests", fewer, tables)
	}
}
