package antijoin

import (
	"bytes"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
)

// spared tells which of the dead rows aren't dead after all: what else was
// found out about them may have come later.
type spared struct {
	foreign *foreignRoots
	links   map[lake.Key]bool // objects that other names lead to
	keys    *keyset.Set       // objects of which some row says that they aren't dead; nil for none
}

func (s *spared) has(k lake.Key) bool { return s.links[k] || s.keys != nil && s.keys.Has(k) }

// empty reports whether every dead row stays dead.
func (s *spared) empty() bool {
	return s.foreign.empty() && len(s.links) == 0 && (s.keys == nil || s.keys.Len() == 0)
}

// settle takes off the counts what Dead leaves out: objects below foreign
// roots, those that another row spares, and all but one row of each object.
func (j *Join) settle(s *spared) error {
	if s.empty() && !j.o.Repeats {
		return nil
	}
	all := s.empty()
	var last filelist.Packed // the row that counts so far of the path at hand
	return j.rows.Visit(func(r filelist.Packed) error {
		again := last != nil && bytes.Equal(r.Path(), last.Path())
		if !again {
			if last = append(last[:0], r...); all {
				return nil
			}
		}
		v, err := r.Verdict()
		if err != nil {
			return err
		}
		switch foreign := s.foreign.holds(v.Key); {
		case s.has(v.Key), foreign && again:
			j.tally.forget(&v)
		case foreign:
			j.tally.disown(&v)
		case again:
			held, err := last.Verdict()
			if err != nil {
				return err
			}
			if v.Modified.After(held.Modified) {
				last, v = append(last[:0], r...), held
			}
			j.tally.forget(&v)
		}
		return nil
	})
}
