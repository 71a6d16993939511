package cleanrun

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/cleandoc"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// revival tells which of a plan's dead partitions may come to life again: a
// write that the plan didn't see complete writes to them, or doesn't say where
// it writes. Their folder and the file that makes it a partition stay: a writer
// that found that file doesn't make it anew, and without it no reader that
// lists folders finds what was written.
//
// Only protected is safe for concurrent use.
type revival struct {
	known map[string]bool // completed writes that the plan saw, by mark
	last  string          // the latest of them
	dead  []string
	seen  map[string]bool // writes looked at, by mark

	mu    sync.Mutex
	alive map[string]bool
}

func newRevival(writes []string, dead []string) *revival {
	r := &revival{known: make(map[string]bool), dead: dead, seen: make(map[string]bool), alive: make(map[string]bool)}
	for _, m := range writes {
		r.known[m], r.last = true, m
	}
	return r
}

// look reads what the writes that came since say. Where the latest write that
// the plan saw is gone from the timeline, later ones may be archived too.
func (r *revival) look(ctx context.Context, tl *timeline.Timeline) error {
	if len(r.dead) == 0 {
		return nil
	}
	last := false
	for _, i := range tl.Instants {
		m := cleandoc.Mark(i)
		last = last || m == r.last
		switch i.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit:
		default:
			continue // a pending service works on groups that aren't dead
		}
		if r.known[m] || r.seen[m] {
			continue
		}
		where, said, err := writesTo(ctx, tl, i)
		if err != nil {
			return err
		}
		if !said {
			where = r.dead
		}
		r.keep(where)
		r.seen[m] = true
	}
	if !last {
		r.keep(r.dead)
	}
	return nil
}

func (r *revival) keep(partitions []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range partitions {
		r.alive[p] = true
	}
}

// writesTo returns the partitions that a write's metadata names. said is false
// where it doesn't say: before the writer knows, or since it wrote no profile.
func writesTo(ctx context.Context, tl *timeline.Timeline, i timeline.Instant) (partitions []string, said bool, err error) {
	if i.State == timeline.Requested {
		return nil, false, nil
	}
	data, err := tl.Read(ctx, i, i.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	m, err := timeline.DecodeCommit(data)
	if err != nil || i.State == timeline.Inflight && len(m.Stats) == 0 {
		return nil, false, nil //nolint:nilerr // what can't be read may be anywhere
	}
	for partition := range m.Stats {
		partitions = append(partitions, partition)
	}
	return partitions, true, nil
}

// protected reports whether a key is the folder of such a partition, or the
// file that makes it one.
func (r *revival) protected(key lake.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alive[string(key)] || datafile.IsPartitionMetadata(key.Base()) && r.alive[string(key.Dir())]
}
