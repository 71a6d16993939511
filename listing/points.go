package listing

import (
	"slices"
	"sort"
)

// points chooses where to split a span: at the median of the names known to
// lie in it, else in the middle of its key space.
type points struct {
	seeds []string // sorted, valid as split points, each once
}

func newPoints(seeds []string) *points {
	p := &points{}
	for _, s := range seeds {
		if validPoint(s) {
			p.seeds = append(p.seeds, s)
		}
	}
	slices.Sort(p.seeds)
	p.seeds = slices.Compact(p.seeds)
	return p
}

// between returns a split point of s, "" if there is none.
func (p *points) between(s *span) string {
	lo := sort.SearchStrings(p.seeds, s.last+"\x00")
	hi := len(p.seeds)
	if s.end != "" {
		hi = sort.SearchStrings(p.seeds, s.end)
	}
	if lo < hi {
		return p.seeds[lo+(hi-lo)/2]
	}
	return middle(s.last, s.end)
}

// middle returns a valid split point about halfway between two keys, "" if it
// finds none.
func middle(last, end string) string {
	i := 0
	for i < len(last) && i < len(end) && last[i] == end[i] {
		i++
	}
	for ; i <= len(last); i++ {
		lo, hi := byte(' '), byte(0x7f)
		if i < len(last) {
			lo = last[i]
		}
		if len(end) > i && end[:i] == last[:min(i, len(last))] {
			hi = end[i]
		}
		if lo >= 0x7f || hi > 0x7f {
			hi = 0x7f
		}
		if lo < ' ' || lo >= 0x7f {
			continue
		}
		if hi-lo >= 2 && hi > lo {
			at := last[:i] + string(rune(lo+(hi-lo)/2))
			if at > last && (end == "" || at < end) && validPoint(at) {
				return at
			}
		}
	}
	return ""
}
