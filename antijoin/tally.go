package antijoin

import (
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// tally counts what was judged, and holds the dead rows of one batch.
type tally struct {
	candidates, protected, young, unknown, unmatched, foreign int64
	directories                                               int64
	byReason                                                  map[lake.Reason]filelist.Count
	dead                                                      []lake.Verdict
}

func newTally() tally { return tally{byReason: make(map[lake.Reason]filelist.Count)} }

func (t *tally) add(o *tally) {
	t.candidates += o.candidates
	t.protected += o.protected
	t.young += o.young
	t.unknown += o.unknown
	t.unmatched += o.unmatched
	t.foreign += o.foreign
	t.directories += o.directories
	for reason, n := range o.byReason {
		t.count(reason, n.Objects, n.Bytes)
	}
}

func (t *tally) count(reason lake.Reason, objects, bytes int64) {
	n := t.byReason[reason]
	n.Objects += objects
	n.Bytes += bytes
	t.byReason[reason] = n
}

// disown moves a row from the dead to the foreign.
func (t *tally) disown(v *lake.Verdict) {
	if v.Directory {
		t.directories--
		return
	}
	t.candidates--
	t.foreign++
	t.count(v.Reason, -1, -max(v.Size, 0))
}

// forget takes a dead row off that is another one's double.
func (t *tally) forget(v *lake.Verdict) {
	t.candidates--
	t.count(v.Reason, -1, -max(v.Size, 0))
}

func (t *tally) totals() filelist.Totals {
	all := filelist.Totals{Candidates: t.candidates, Protected: t.protected, TooYoung: t.young, KeptUnknown: t.unknown,
		Unmatched: t.unmatched, Foreign: t.foreign, DeadDirectories: t.directories, ByReason: make(map[string]filelist.Count)}
	for reason, n := range t.byReason {
		if n.Objects > 0 {
			all.ByReason[string(reason)] = n
			all.Dead += n.Objects
			all.DeadBytes += n.Bytes
		}
	}
	return all
}
