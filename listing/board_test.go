package listing

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/store"
)

// A world is a board with the keys that its spans list and what was yielded.
type world struct {
	b      *board
	keys   []string
	got    map[string]int
	splits int // still allowed
	errors int // still allowed
}

func newWorld(bounds []Range, keys []string, splits, errors int) *world {
	return &world{newBoard(bounds), keys, map[string]int{}, splits, errors}
}

func (w *world) clone() *world {
	c := *w
	b := *w.b
	b.waiting, b.active, b.closed = nil, map[*span]struct{}{}, slices.Clone(w.b.closed)
	for _, s := range w.b.waiting {
		d := *s
		b.waiting = append(b.waiting, &d)
	}
	for s := range w.b.active {
		d := *s
		b.active[&d] = struct{}{}
	}
	c.b, c.got = &b, maps.Clone(w.got)
	return &c
}

// state describes all that decides what can happen next.
func (w *world) state() string {
	var out []string
	one := func(kind string, s *span) {
		out = append(out, fmt.Sprintf("%s%d %q %q %q %v", kind, s.bound, s.after, s.last, s.end, s.incl))
	}
	for _, s := range w.b.waiting {
		one("w", s)
	}
	for s := range w.b.active {
		one("a", s)
	}
	for _, e := range w.b.closed {
		out = append(out, fmt.Sprintf("c %v", e))
	}
	slices.Sort(out)
	return fmt.Sprint(out, w.got, w.splits, w.errors)
}

// page lists up to size keys for s as a store would.
func (w *world) page(s *span, size int) store.Page {
	var p store.Page
	i := sort.SearchStrings(w.keys, s.last+"\x00")
	for ; i < len(w.keys) && len(p.Entries) < size; i++ {
		p.Entries = append(p.Entries, store.Info{Name: w.keys[i]})
	}
	if i < len(w.keys) {
		p.Next = "more"
	}
	return p
}

// step lists a page of an active span and splits it at the given point, "" for not at all.
func (w *world) step(s *span, size int, at string) error {
	mine, closed, err := s.take(w.page(s, size), false)
	if err != nil {
		return err
	}
	for _, e := range mine {
		w.got[e.Name]++
	}
	if closed {
		w.b.close(s)
	} else if at != "" && w.b.split(s, at) != nil {
		w.splits--
	}
	return nil
}

// tiles reports whether open and closed parts cover the bounds without gap or overlap.
func (w *world) tiles() error {
	all := &board{bounds: w.b.bounds, closed: slices.Clone(w.b.closed)}
	open := slices.Clone(w.b.waiting)
	for s := range w.b.active {
		open = append(open, s)
	}
	for _, s := range open {
		all.closed = append(all.closed, extent{s.bound, s.after, s.end, s.incl})
	}
	return all.proof()
}

// finished checks the end of a run.
func (w *world) finished() error {
	if err := w.b.proof(); err != nil {
		return err
	}
	for _, k := range w.keys {
		want := 0
		for _, r := range w.b.bounds {
			if r.holds(k) {
				want = 1
			}
		}
		if w.got[k] != want {
			return fmt.Errorf("%q came %d times, want %d", k, w.got[k], want)
		}
	}
	return nil
}

// TestBoardInEveryOrder walks through all interleavings of claims, pages,
// splits, errors and hand-backs on tiny key spaces.
func TestBoardInEveryOrder(t *testing.T) {
	points := []string{"", "a", "a0", "b", "bb", "c", "d", "z"}
	cases := []struct {
		bounds []Range
		keys   []string
	}{
		{[]Range{{}}, nil},
		{[]Range{{}}, []string{"a", "b", "c"}},
		{[]Range{{}}, []string{"b", "b0", "bb", "bba"}},
		{[]Range{{After: "a", Before: "c"}}, []string{"a", "b", "bb", "c"}},
		{[]Range{{Before: "b"}, {After: "b"}}, []string{"a", "b", "c"}},
	}
	for _, c := range cases {
		seen := map[string]bool{}
		ends := 0
		var visit func(w *world)
		visit = func(w *world) {
			if st := w.state(); seen[st] {
				return
			} else {
				seen[st] = true
			}
			if err := w.tiles(); err != nil {
				t.Fatalf("%v: %v in %s", c, err, w.state())
			}
			if w.b.open() == 0 {
				ends++
				if err := w.finished(); err != nil {
					t.Fatalf("%v: %v in %s", c, err, w.state())
				}
				return
			}
			if w.finished() == nil {
				t.Fatalf("%v: proved before it ended: %s", c, w.state())
			}
			if len(w.b.active) < 2 && len(w.b.waiting) > 0 {
				n := w.clone()
				n.b.claim()
				visit(n)
			}
			for i := range len(w.b.active) {
				pick := func() (*world, *span) {
					n := w.clone()
					active := slices.SortedFunc(maps.Keys(n.b.active), func(x, y *span) int {
						return strings.Compare(fmt.Sprint(x.bound, x.last), fmt.Sprint(y.bound, y.last))
					})
					return n, active[i]
				}
				for size := 1; size <= 2; size++ {
					for _, at := range points {
						if at != "" && w.splits == 0 {
							continue
						}
						n, s := pick()
						if err := n.step(s, size, at); err != nil {
							t.Fatalf("%v: %v in %s", c, err, w.state())
						}
						visit(n)
					}
				}
				if w.errors > 0 {
					n, s := pick()
					n.errors--
					n.b.release(s)
					visit(n)
				}
			}
		}
		visit(newWorld(c.bounds, c.keys, 3, 1))
		if ends == 0 {
			t.Errorf("%v: no run came to its end", c)
		}
		t.Logf("%v: %d states, %d ends", c, len(seen), ends)
	}
}

// TestProofFindsEveryLostPart closes all but one part, or closes one twice.
func TestProofFindsEveryLostPart(t *testing.T) {
	whole := []extent{{0, "", "b", true}, {0, "b", "d", true}, {0, "d", "m", false}, {1, "p", "q", true}, {1, "q", "", false}}
	bounds := []Range{{Before: "m"}, {After: "p"}}
	if err := (&board{bounds: bounds, closed: slices.Clone(whole)}).proof(); err != nil {
		t.Fatal(err)
	}
	for i, e := range whole {
		for name, closed := range map[string][]extent{
			"lost":   slices.Delete(slices.Clone(whole), i, i+1),
			"twice":  append(slices.Clone(whole), e),
			"longer": slices.Replace(slices.Clone(whole), i, i+1, extent{e.bound, e.after, e.end + "x", e.incl}),
			"later":  slices.Replace(slices.Clone(whole), i, i+1, extent{e.bound, e.after + "x", e.end, e.incl}),
		} {
			if err := (&board{bounds: bounds, closed: closed}).proof(); err == nil {
				t.Errorf("part %d %s: proved all the same", i, name)
			}
		}
	}
}

// TestBoardAtRandom is the same as TestBoardInEveryOrder for larger key spaces.
func TestBoardAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld([]Range{{}}, names(t), 1<<30, 1<<30)
		for w.b.open() > 0 {
			if len(w.b.active) == 0 || len(w.b.waiting) > 0 && rapid.Bool().Draw(t, "claim") {
				w.b.claim()
				continue
			}
			active := slices.SortedFunc(maps.Keys(w.b.active), func(x, y *span) int { return strings.Compare(x.last, y.last) })
			s := active[rapid.IntRange(0, len(active)-1).Draw(t, "span")]
			if rapid.IntRange(0, 9).Draw(t, "error") == 0 {
				w.b.release(s)
				continue
			}
			at := ""
			if len(w.keys) > 0 && rapid.Bool().Draw(t, "split") {
				at = rapid.SampledFrom(w.keys).Draw(t, "at")
				at = at[:rapid.IntRange(0, len(at)).Draw(t, "cut")] + rapid.SampledFrom([]string{"", "0", "~", "\xff"}).Draw(t, "more")
			}
			if err := w.step(s, rapid.IntRange(1, 20).Draw(t, "size"), at); err != nil {
				t.Fatal(err)
			}
			if err := w.tiles(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.finished(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTakeBelievesOnlyRisingPages(t *testing.T) {
	page := func(next string, names ...string) store.Page {
		p := store.Page{Next: next}
		for _, n := range names {
			p.Entries = append(p.Entries, store.Info{Name: n})
		}
		return p
	}
	for name, c := range map[string]struct {
		page    store.Page
		goingOn bool
		n       int
		closed  bool
		err     error
	}{
		"all within":             {page("t", "c", "d"), false, 2, false, nil},
		"the last page":          {page("", "c", "d"), false, 2, true, nil},
		"up to the end itself":   {page("t", "c", "m"), false, 2, true, nil},
		"beyond the end":         {page("t", "c", "m", "n"), false, 2, true, nil},
		"nothing":                {page(""), false, 0, true, nil},
		"empty but not the last": {page("t"), false, 0, false, nil},
		"only beyond":            {page("t", "x"), false, 0, true, nil},
		"from the beginning":     {page("t", "a", "b"), false, 0, false, errStart},
		"the start key again":    {page("t", "b", "c"), false, 0, false, errStart},
		"a page again":           {page("t", "b", "c"), true, 0, false, errOrder},
		"falling":                {page("t", "d", "c"), false, 0, false, errOrder},
		"twice":                  {page("t", "c", "c"), false, 0, false, errOrder},
		"falling beyond the end": {page("t", "c", "x", "e"), false, 0, false, errOrder},
	} {
		s := &span{after: "b", last: "b", end: "m", incl: true}
		mine, closed, err := s.take(c.page, c.goingOn)
		if len(mine) != c.n || closed != c.closed || !isErr(err, c.err) {
			t.Errorf("%s: %d entries, closed %v, %v; want %d, %v, %v", name, len(mine), closed, err, c.n, c.closed, c.err)
		}
	}
}

func isErr(err, want error) bool {
	if want == nil {
		return err == nil
	}
	return err != nil && strings.HasPrefix(err.Error(), want.Error())
}
