package blob

import (
	"github.com/zeebo/xxh3"

	"github.com/lakesweep/lakesweep/lake"
)

// ballot holds the candidates as keyed fingerprints of their forms, each with
// the best vote so far. Two candidates whose fingerprints collide share their
// votes, which can only keep them.
//
// Memory: 16 bytes a slot; at most three slots a form, five while it grows.
type ballot struct {
	names       *lake.BlobNames
	seed        uint64
	slots       []slot
	n           int
	open        int // slots that aren't Referenced
	authorities map[string]bool
	tooMany     bool // authorities to tell apart
	witnesses   []Finding
	exact       *spellings // nil unless every reference is said to be spelled as its candidate
	stray       *stray     // the first that isn't
}

type slot struct {
	fp      uint64 // 0 is free
	by      uint32 // index of a witness + 1
	fate    Fate
	spelled mark // of the candidate
}

// stray is a reference that spells a candidate otherwise.
type stray struct {
	print uint64   // of the form that they share
	by    lake.Key // the file that holds it; "" for another candidate
}

const mostAuthorities = 10_000

func newBallot(names *lake.BlobNames, seed uint64, exact bool) *ballot {
	b := &ballot{names: names, seed: seed, slots: make([]slot, 64), authorities: make(map[string]bool)}
	if exact {
		b.exact = newSpellings()
	}
	return b
}

// print is the fingerprint of a form, never 0.
func (b *ballot) print(form string) uint64 { return max(xxh3.HashStringSeed(form, b.seed), 1) }

// votes is what a reference counts as: one vote for each of its forms.
func (b *ballot) votes(path string) (out []vote) {
	spelled := markOf(b.print(path))
	for _, form := range b.names.Forms(lake.BlobID(path)) {
		out = append(out, vote{b.print(form), spelled})
	}
	return out
}

func (b *ballot) find(fp uint64) *slot {
	mask := uint64(len(b.slots) - 1)
	for i := fp & mask; ; i = (i + 1) & mask {
		if s := &b.slots[i]; s.fp == fp || s.fp == 0 {
			return s
		}
	}
}

// add enters a candidate.
func (b *ballot) add(id lake.BlobID) {
	if b.exact != nil {
		b.exact.add(id)
	}
	spelled := markOf(b.print(string(id)))
	for _, form := range b.names.Forms(id) {
		if b.n >= len(b.slots)/4*3 {
			b.grow()
		}
		fp := b.print(form)
		if s := b.find(fp); s.fp == 0 {
			*s = slot{fp: fp, spelled: spelled}
			b.n++
			b.open++
		} else {
			b.compare(s, vote{fp, spelled}, "")
		}
		if a := lake.AuthorityOf(form); !b.authorities[a] {
			b.tooMany = b.tooMany || len(b.authorities) >= mostAuthorities
			if !b.tooMany {
				b.authorities[a] = true
			}
		}
	}
}

func (b *ballot) grow() {
	old := b.slots
	b.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.fp != 0 {
			*b.find(s.fp) = s
		}
	}
}

// compare notes that a vote spells the candidate of a slot otherwise.
func (b *ballot) compare(s *slot, v vote, by lake.Key) {
	if b.exact != nil && b.stray == nil && s.spelled != v.spelled {
		b.stray = &stray{v.print, by}
	}
}

// vote counts what one file says: committed references, and pending ones.
func (b *ballot) vote(by Finding, committed, pending []vote) {
	witness := uint32(0)
	for _, list := range [...]struct {
		votes []vote
		fate  Fate
	}{{committed, Referenced}, {pending, Pending}} {
		for _, v := range list.votes {
			s := b.find(v.print)
			if s.fp == 0 {
				continue
			}
			b.compare(s, v, by.By)
			if s.fate >= list.fate {
				continue
			}
			if witness == 0 {
				b.witnesses = append(b.witnesses, by)
				witness = uint32(len(b.witnesses))
			}
			if list.fate == Referenced {
				b.open--
			}
			s.fate, s.by = list.fate, witness
		}
	}
}

// of returns the best vote for a candidate; its fate is Undecided where there
// is none, and known is false for one that was never entered.
func (b *ballot) of(id lake.BlobID) (best Finding, known bool) {
	known = true
	for _, form := range b.names.Forms(id) {
		s := b.find(b.print(form))
		known = known && s.fp != 0
		if s.fp != 0 && s.fate > best.Fate {
			best = b.witnesses[s.by-1]
			best.Fate = s.fate
		}
	}
	return best, known
}

// passes returns the authority of a column chunk whose values all lie where no
// candidate does.
func (b *ballot) passes(least, greatest string) (authority string, ok bool) {
	form, ok := b.names.Authority(least, greatest)
	return form, ok && !b.tooMany && !b.authorities[form]
}
