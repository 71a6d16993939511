package listing

import (
	"slices"
	"sort"

	"github.com/lakesweep/lakesweep/store"
)

// points chooses where to split a span: at the median of the names known to
// lie in it, else at the middle of what the bytes seen so far make likely, else
// at the plain middle of its key space.
//
// It is used under the walk's lock.
type points struct {
	seeds []string  // sorted, valid as split points, each once
	seen  [][]known // by component and offset; those that stand for nothing yet are empty
}

// place is where in a name a byte stands: in which component, and how far in.
type place struct{ component, offset int }

func newPoints(seeds []string) *points {
	p := &points{}
	p.add(seeds)
	return p
}

// add takes more names as seeds.
func (p *points) add(seeds []string) {
	for _, s := range seeds {
		if validPoint(s) {
			p.seeds = append(p.seeds, s)
		}
	}
	slices.Sort(p.seeds)
	p.seeds = slices.Compact(p.seeds)
	for i, s := range p.seeds {
		p.learn(s, p.seeds[min(i+1, len(p.seeds)-1)])
	}
}

const (
	learnEvery  = 16  // of a page's names
	learnLength = 256 // bytes of a name
)

// page learns from the names of a page.
func (p *points) page(entries []store.Info) {
	for i := 0; i < len(entries); i += learnEvery {
		p.learn(entries[i].Name, entries[min(i+learnEvery, len(entries)-1)].Name)
	}
	if n := len(entries); n > 0 {
		p.learn(entries[n-1].Name, entries[n-1].Name)
	}
}

// learn takes note of a name and of how it differs from one soon after it.
func (p *points) learn(name, next string) {
	var at place
	turn := false
	for i := 0; i < min(len(name), learnLength); i++ {
		p.room(at).note(name[i], turn)
		turn = turn || i >= len(next) || name[i] != next[i]
		at = at.next(name[i])
	}
}

// room returns what is known of a place, to be added to.
func (p *points) room(at place) *known {
	if at.component >= len(p.seen) {
		p.seen = append(p.seen, make([][]known, at.component+1-len(p.seen))...)
	}
	row := p.seen[at.component]
	if at.offset >= len(row) {
		row = append(row, make([]known, at.offset+1-len(row))...)
		p.seen[at.component] = row
	}
	return &row[at.offset]
}

// known returns what is known of a place, nil for nothing.
func (p *points) known(at place) *known {
	if at.component >= len(p.seen) || at.offset >= len(p.seen[at.component]) {
		return nil
	}
	if k := &p.seen[at.component][at.offset]; k.seen != (alphabet{}) {
		return k
	}
	return nil
}

// missed learns that nothing came after a split point guessed from the byte
// that follows what it has in common with last.
func (p *points) missed(last, point string) {
	n := common(last, point)
	if n == len(point) {
		return
	}
	if k := p.known(placeOf(point[:n])); k != nil && !k.seen.has(point[n]) {
		k.turns += settled / 4
	}
}

// common returns the length of what two names begin with.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (at place) next(c byte) place {
	if c == '/' {
		return place{at.component + 1, 0}
	}
	return place{at.component, at.offset + 1}
}

// placeOf returns the place after name.
func placeOf(name string) place {
	var at place
	for i := range len(name) {
		at = at.next(name[i])
	}
	return at
}

// A scale reads names as numbers from 0 to 1 below a common prefix, each byte
// a digit among those seen at its place.
type scale struct {
	p      *points
	prefix string
	at     place
}

func (c scale) alphabet(at place) *alphabet {
	if k := c.p.known(at); k != nil {
		return k.alphabet()
	}
	return nil
}

const (
	fine   = 1e-12 // the least difference of scales that is looked at
	beyond = 0.9   // of a scale without an end, from where on something above it is looked for
)

// above returns a name above all that the scale knows, at the first place
// where names differ.
func (c scale) above(name string) string {
	at := c.at
	for i := len(c.prefix); i < len(name); i++ {
		a := c.alphabet(at)
		if a == nil {
			break
		}
		if n := a.size(); n > 1 {
			return name[:i] + string(rune(a.nth(n-1)+1))
		}
		at = at.next(name[i])
	}
	return ""
}

// value returns the number of name, which begins with the prefix.
func (c scale) value(name string) float64 {
	v, unit, at := 0.0, 1.0, c.at
	for i := len(c.prefix); i < len(name) && unit > fine; i++ {
		a := c.alphabet(at)
		if a == nil {
			break
		}
		unit /= float64(a.size())
		v += unit * float64(a.rank(name[i]))
		if !a.has(name[i]) {
			break
		}
		at = at.next(name[i])
	}
	return v
}

// name returns a short name whose number is about v, exact to within unit.
func (c scale) name(v, exact float64) string {
	out, unit, at := []byte(c.prefix), 1.0, c.at
	for unit > exact && len(out) < len(c.prefix)+learnLength {
		a := c.alphabet(at)
		if a == nil {
			break
		}
		n := a.size()
		v *= float64(n)
		digit := min(int(v), n-1)
		v -= float64(digit)
		unit /= float64(n)
		out = append(out, a.nth(digit))
		at = at.next(out[len(out)-1])
	}
	return string(out)
}

// scaleOf returns the scale below what two keys have in common, and the
// number of the second, which may be "" for no bound.
func (p *points) scaleOf(after, end string) (c scale, to float64) {
	n := common(after, end)
	c = scale{p: p, prefix: after[:n], at: placeOf(after[:n])}
	if end == "" {
		return c, 1
	}
	return c, c.value(end)
}

// between returns a split point of s, "" if there is none.
func (p *points) between(s *span) string {
	if lo, hi := p.seedsOf(s.last, s.end); lo < hi {
		return p.seeds[lo+(hi-lo)/2]
	}
	c, to := p.scaleOf(s.last, s.end)
	from := c.value(s.last)
	if s.end == "" && (from+1)/2 > beyond {
		if at := c.above(s.last); s.splittable(at) && validPoint(at) {
			return at
		}
	}
	if to-from > fine {
		at := c.name((from+to)/2, (to-from)/64)
		for _, at := range [3]string{directoryOf(at), directoryOf(s.end), at} {
			// The names of one directory's files tell little about those of another's: its border is the better guess.
			if s.splittable(at) && validPoint(at) {
				return at
			}
		}
	}
	return middle(s.last, s.end)
}

// seedsOf returns the indexes of the seeds between two keys.
func (p *points) seedsOf(last, end string) (lo, hi int) {
	lo, hi = sort.SearchStrings(p.seeds, last+"\x00"), len(p.seeds)
	if end != "" {
		hi = sort.SearchStrings(p.seeds, end)
	}
	return lo, max(lo, hi)
}

// left estimates how many more keys s holds than it has yielded: as many for
// each seed, or for each bit of the scale, as it had so far. It is -1 if
// nothing allows a guess.
func (p *points) left(s *span) float64 {
	if s.keys == 0 {
		return -1
	}
	lo, hi := p.seedsOf(s.last, s.end)
	if from, _ := p.seedsOf(s.after, ""); lo-from >= 2 && hi > lo {
		return float64(s.keys) / float64(lo-from) * (float64(hi-lo) + 0.5)
	}
	c, to := p.scaleOf(s.after, s.end)
	from, at := c.value(s.after), c.value(s.last)
	if at-from <= fine || to < at {
		return -1
	}
	return float64(s.keys) * (to - at) / (at - from)
}

// middle returns a valid split point about halfway between two keys in plain
// ASCII, "" if it finds none.
func middle(last, end string) string {
	n := common(last, end)
	bounded := n < len(end)
	for i := n; i <= len(last); i++ {
		lo, hi := byte(' '), byte(0x7f)
		if i < len(last) {
			lo = max(last[i], ' ')
		}
		if bounded && i == n {
			hi = min(end[i], 0x7f)
		}
		if lo+2 > hi {
			continue
		}
		at := last[:i] + string(rune(lo+(hi-lo)/2))
		if at > last && (end == "" || at < end) && validPoint(at) {
			return at
		}
	}
	return ""
}
