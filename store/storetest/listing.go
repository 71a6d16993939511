package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/store"
)

func testOrder(t *testing.T, s store.Store, opt Options) {
	want := []string{"p a/x", "p!x", "p-b", "p.b", "p/b", "p0b", "pA", "p_b", "pb", "p~", "pé", "p日", "p😀"}
	if !s.Traits().Directories && !opt.NoSlashNames {
		want = append(want, "m", "m-", "m/", "m/a", "m0")
		slices.Sort(want)
	}
	for _, name := range want {
		put(t, s, name, "")
	}
	equal(t, "names", walk(t, s, "", 3), want)
}

func testPages(t *testing.T, s store.Store, opt Options) {
	limit := 10
	if opt.Slow {
		limit = 3
	}
	for _, n := range []int{limit - 1, limit, limit + 1, 2 * limit, 2*limit + 1} {
		dir := fmt.Sprintf("n=%d/", n)
		var want []string
		for i := range n {
			name := fmt.Sprintf("%sf%03d", dir, i)
			put(t, s, name, "")
			want = append(want, name)
		}
		equal(t, dir, walk(t, s, dir, limit), want)
		var dirs []string
		for _, e := range pages(t, s, store.PageRequest{Prefix: dir, Dirs: true, Limit: limit}) {
			dirs = append(dirs, e.Name)
		}
		slices.Sort(dirs) // only flat listings promise an order
		equal(t, dir+" as a directory", dirs, want)
	}
}

func testDirs(t *testing.T, s store.Store, opt Options) {
	for _, name := range []string{"a", "p=1/x", "p=1/y", "p=2/q=1/x", "p=2/q=2/x", "p=2-x", "z"} {
		put(t, s, name, "x")
	}
	check := func(prefix string, want ...string) {
		t.Helper()
		for _, limit := range []int{0, 1, 2} {
			if opt.LongDirPages && limit > 0 {
				continue
			}
			var got []string
			for _, e := range pages(t, s, store.PageRequest{Prefix: prefix, Dirs: true, Limit: limit}) {
				if (e.Kind == store.Dir) != strings.HasSuffix(e.Listed(), "/") || e.Kind != store.Dir && e.Kind != store.File {
					t.Errorf("%+v", e)
				}
				got = append(got, e.Listed())
			}
			if !s.Traits().Flat {
				slices.Sort(got)
			}
			equal(t, fmt.Sprintf("%q in pages of %d", prefix, limit), got, want)
		}
	}
	check("", "a", "p=1/", "p=2-x", "p=2/", "z")
	check("p=1/", "p=1/x", "p=1/y")
	check("p=2/", "p=2/q=1/", "p=2/q=2/")
	for _, e := range pages(t, s, store.PageRequest{Prefix: "p=1/", Dirs: true, Details: true}) {
		want, err := s.Stat(t.Context(), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if e.Size != want.Size || !e.Modified.Truncate(time.Second).Equal(want.Modified.Truncate(time.Second)) || e.ETag != "" && e.ETag != want.ETag {
			t.Errorf("listed with details %+v, stat %+v", e, want)
		}
	}
	if s.Traits().Flat && !opt.NoSlashNames {
		put(t, s, "e//f", "")
		check("e/", "e//")
		check("e//", "e//f")
	}
}

func testAfter(t *testing.T, s store.Store, opt Options) {
	if !s.Traits().StartAfter {
		t.Skip("the store has no start key")
	}
	all := []string{"a", "d/a", "d/b", "d/c", "d/é", "d/日", "d0", "e"}
	if !opt.NoSlashNames {
		all = append(all, "d/", "d//x")
		slices.Sort(all)
	}
	for _, name := range all {
		put(t, s, name, "")
	}
	for _, after := range []string{"", "a", "aa", "d", "d/", "d/\x01", "d//", "d/b", "d/bb", "d/z", "d/é", "d/\xff", "d0", "zzz", "d/a b+c%20&"} {
		for _, prefix := range []string{"", "d", "d/", "d/b", "nope"} {
			var want []string
			for _, name := range all {
				if name > after && strings.HasPrefix(name, prefix) {
					want = append(want, name)
				}
			}
			if opt.PlainNames && after == "d/\xff" {
				continue
			}
			var got []string
			for _, e := range pages(t, s, store.PageRequest{Prefix: prefix, After: after, Limit: 2}) {
				got = append(got, e.Listed())
			}
			equal(t, fmt.Sprintf("prefix %q after %q", prefix, after), got, want)
		}
	}
}

// testRandomListings compares listings of random keys with the sorted set. The
// alphabet holds what sorts next to a slash and what must be escaped.
func testRandomListings(t *testing.T, s store.Store, opt Options) {
	if !s.Traits().StartAfter || opt.NoSlashNames {
		t.Skip("needs a flat listing with any names")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	alphabet := []string{"a", "b", "/", "-", "0", " ", "%", "+", "é", "日", "😀", "&", "<", "\"", "\x01"}
	if opt.PlainNames {
		alphabet = alphabet[:len(alphabet)-1]
	}
	word := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	set := map[string]bool{}
	count, rounds := 300, 200
	if opt.Slow {
		count, rounds = 60, 40
	}
	for range count {
		if name := word(8); name != "/" && name != "." && name != ".." && !set[name] {
			put(t, s, name, "")
			set[name] = true
		}
	}
	var all []string
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	for range rounds {
		prefix, after := "", ""
		if rng.IntN(2) == 0 {
			prefix = word(2)
		}
		if rng.IntN(2) == 0 {
			after = word(6)
		}
		var want, got []string
		for _, name := range all {
			if name > after && strings.HasPrefix(name, prefix) {
				want = append(want, name)
			}
		}
		limit := 1 + rng.IntN(count)
		for _, e := range pages(t, s, store.PageRequest{Prefix: prefix, After: after, Limit: limit}) {
			got = append(got, e.Listed())
		}
		equal(t, fmt.Sprintf("prefix %q after %q in pages of %d", prefix, after, limit), got, want)
	}
}
