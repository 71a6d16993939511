package listing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// collector gathers what a walk emits.
type collector struct {
	mu    sync.Mutex
	names []string
	kinds map[store.EntryKind]int
}

func (c *collector) emit(batch []store.Info) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range batch {
		c.names = append(c.names, e.Listed())
		if c.kinds == nil {
			c.kinds = map[store.EntryKind]int{}
		}
		c.kinds[e.Kind]++
	}
	return nil
}

func (c *collector) sorted() []string {
	slices.Sort(c.names)
	return c.names
}

func filled(t mem.Options, names []string) *mem.Store {
	s := mem.New(t)
	for _, n := range names {
		s.PutSized(n, 1, time.Time{})
	}
	return s
}

// names draws sets of names that are hard on a bisection.
func names(t *rapid.T) []string {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-c]{1,3}`),
		rapid.StringMatching(`day=[0-9]{2}`),
		rapid.SampledFrom([]string{"p", "p=1", "p=1-x", "p=10", "é", "日本", "\U0010FFFF", "\xff", "\xff\xfe", "~", " ", "%2F", strings.Repeat("x", 60)}),
		rapid.StringN(1, 4, 12),
	)
	n := rapid.IntRange(0, 400).Draw(t, "n")
	set := map[string]bool{}
	for range n {
		depth := rapid.IntRange(1, 4).Draw(t, "depth")
		var parts []string
		for range depth {
			parts = append(parts, strings.NewReplacer("/", "_", "\x00", "_").Replace(part.Draw(t, "part")))
		}
		name := strings.Join(parts, "/")
		if rapid.IntRange(0, 20).Draw(t, "marker") == 0 {
			name += "/"
		}
		set[name] = true
	}
	var out []string
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func TestWalkEqualsTheSortedSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := names(t)
		traits := mem.Default()
		traits.PageSize = rapid.SampledFrom([]int{1, 2, 3, 7, 50, 1000}).Draw(t, "page")
		s := filled(mem.Options{Traits: traits}, want)
		var seeds []string
		for range rapid.IntRange(0, 20).Draw(t, "seeds") {
			seeds = append(seeds, rapid.SampledFrom(append([]string{"a", "b/", "zz"}, want...)).Draw(t, "seed"))
		}
		var got collector
		st, err := Walk(context.Background(), s, Options{Workers: rapid.IntRange(0, 9).Draw(t, "workers"), Seeds: seeds}, got.emit)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.sorted(), want) {
			t.Fatalf("got %q\nwant %q", got.names, want)
		}
		if st.Keys != int64(len(want)) {
			t.Fatalf("counts %d keys, want %d", st.Keys, len(want))
		}
	})
}

func TestFanOutEqualsTheSortedSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := names(t)
		traits := mem.Default()
		traits.StartAfter, traits.Flat = false, rapid.Bool().Draw(t, "flat")
		traits.PageSize = rapid.SampledFrom([]int{1, 2, 7, 1000}).Draw(t, "page")
		s := filled(mem.Options{Traits: traits}, want)
		var mu sync.Mutex
		var files []string
		dirs := map[string]int{}
		_, err := Walk(context.Background(), s, Options{Workers: rapid.IntRange(0, 9).Draw(t, "workers")}, func(batch []store.Info) error {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range batch {
				if e.Kind == store.Dir {
					dirs[e.Name]++
				} else {
					files = append(files, e.Listed())
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(files)
		if !slices.Equal(files, want) {
			t.Fatalf("got %q\nwant %q", files, want)
		}
		wantDirs := map[string]int{}
		for _, n := range want {
			for i := range n {
				if n[i] == '/' {
					wantDirs[n[:i]] = 1
				}
			}
		}
		if fmt.Sprint(dirs) != fmt.Sprint(wantDirs) {
			t.Fatalf("directories %v, want %v", dirs, wantDirs)
		}
	})
}
