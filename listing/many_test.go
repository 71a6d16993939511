package listing

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/store"
)

// sorted is a store of names that are already in order.
type sorted struct {
	simulated
	names []string
}

func newSorted(names []string, pageSize int) *sorted {
	s := &sorted{names: names}
	s.n, s.key, s.pageSize = len(names), func(i int) string { return names[i] }, pageSize
	return s
}

func (s *sorted) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if req.Dirs {
		return s.simulated.List(ctx, req)
	}
	cursor := max(req.After, req.Token)
	i := sort.Search(len(s.names), func(i int) bool { return s.names[i] > cursor && s.names[i] >= req.Prefix })
	page := store.Page{Entries: make([]store.Info, 0, s.pageSize)}
	for ; i < len(s.names) && strings.HasPrefix(s.names[i], req.Prefix); i++ {
		if len(page.Entries) == s.pageSize {
			page.Next = s.names[i-1]
			break
		}
		page.Entries = append(page.Entries, store.Info{Name: s.names[i]})
	}
	return page, ctx.Err()
}

// families are ways to name many objects that mislead a bisection.
var families = map[string]func(r *rand.Rand, i int) string{
	"one directory":        func(_ *rand.Rand, i int) string { return fmt.Sprintf("%d", i) },
	"a directory for each": func(r *rand.Rand, _ int) string { return fmt.Sprintf("%x/%x/x", r.Uint32()%5000, r.Uint64()) },
	"long common prefix":   func(_ *rand.Rand, i int) string { return strings.Repeat("same/", 180) + fmt.Sprintf("%07d", i) },
	"differ at the end":    func(r *rand.Rand, i int) string { return fmt.Sprintf("%s%d", strings.Repeat("k", i%900), r.Uint32()) },
	"clustered":            func(r *rand.Rand, i int) string { return fmt.Sprintf("%c/%d", 'a'+rune(r.ExpFloat64()*2), i) },
	"high runes": func(r *rand.Rand, i int) string {
		return string([]rune{rune(0x4e00 + r.IntN(5000)), rune(0x1f300 + i%700)}) + fmt.Sprint(i)
	},
	"last runes": func(r *rand.Rand, i int) string { return strings.Repeat("\U0010FFFF", r.IntN(20)) + fmt.Sprint(i) },
	"bytes that aren't any": func(r *rand.Rand, i int) string {
		return strings.Repeat("\xff", r.IntN(9)) + string(rune(' '+i%90)) + fmt.Sprint(i)
	},
	"any bytes": func(r *rand.Rand, _ int) string {
		b := make([]byte, 1+r.IntN(12))
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
		}
		return strings.TrimRight(string(b), "/") + "x"
	},
	"upper, lower, signs": func(r *rand.Rand, i int) string {
		return string("!~AZaz09_-"[r.IntN(10)]) + string("!~AZaz09_-"[r.IntN(10)]) + fmt.Sprint(i)
	},
}

// TestWalkOfManyNames lists 100,000 names of each family, as whole and in
// ranges, with throttling and cut pages in between.
func TestWalkOfManyNames(t *testing.T) {
	for family, name := range families {
		t.Run(family, func(t *testing.T) {
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 1))
			names := make([]string, 100_000)
			for i := range names {
				names[i] = name(r, i)
			}
			slices.Sort(names)
			names = slices.Compact(names)
			var o Options
			if r.IntN(2) == 0 {
				for range r.IntN(2000) {
					o.Seeds = append(o.Seeds, names[r.IntN(len(names))])
				}
			}
			want := names
			if r.IntN(3) == 0 {
				a, b, c := names[r.IntN(1000)], names[len(names)/2], names[len(names)/2+r.IntN(1000)]
				o.Within = []Range{{After: a, Before: b}, {After: c}}
				want = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !o.Within[0].holds(n) && !o.Within[1].holds(n) })
			}
			o.Workers = r.IntN(40)
			var mu sync.Mutex
			failed := map[string]int{} // by where the page begins: none fails so often that the walk gives up
			f := &troubled{Reader: newSorted(names, 100+r.IntN(900)), list: func(call int64, req store.PageRequest) error {
				mu.Lock()
				defer mu.Unlock()
				at := max(req.After, req.Token)
				if n := mix(seed + uint64(call)); n%20 == 0 && failed[at] < 2 {
					failed[at]++
					return transient[n/20%uint64(len(transient))]
				}
				return nil
			}}
			got, st, err := listed(t, f, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d names, want %d: %+v", seed, len(got), len(want), st)
			}
		})
	}
}
