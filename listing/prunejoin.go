package listing

import (
	"github.com/lakesweep/lakesweep/store"
)

// joiner makes ranges of what comes in key order.
type joiner struct {
	page   float64 // a gap of so many names is jumped over
	within []Range

	ranges []Range
	bound  int          // of within, that the last range lies in
	names  float64      // known in the ranges
	gap    float64      // names known to lie behind the last range
	files  []store.Info // between the ranges
	behind []store.Info // behind the last range
}

func (j *joiner) file(e store.Info) { j.behind = append(j.behind, e) }

// skip passes over a directory of so many names.
func (j *joiner) skip(names float64) { j.gap += names }

// want takes a range of so many names.
func (j *joiner) want(r Range, names float64) {
	if r.Before != "" && r.After >= r.Before {
		return
	}
	for i, w := range j.within {
		if !w.overlaps(r) {
			continue
		}
		part := Range{After: max(r.After, w.After), Before: r.Before}
		if part.Before == "" || w.Before != "" && w.Before < part.Before {
			part.Before = w.Before
		}
		if last := len(j.ranges) - 1; last >= 0 && i == j.bound && j.gap < j.page {
			j.ranges[last].Before = part.Before
			j.names += j.gap
		} else {
			j.files = append(j.files, j.behind...)
			j.ranges, j.bound = append(j.ranges, part), i
		}
		j.behind, j.gap = nil, 0
	}
	j.names += names
}

// done returns the files to emit and the ranges to list.
func (j *joiner) done() ([]store.Info, []Range) {
	return append(j.files, j.behind...), j.ranges
}
