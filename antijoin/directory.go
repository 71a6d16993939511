package antijoin

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// directories remembers the directories without a file directly in them:
// only those can be empty through and through.
type directories struct {
	mu      sync.Mutex
	subdirs map[lake.Key]int // number of directories directly in it
}

// Directory tells of a directory that a listing saw whole, with every entry
// of it, hidden ones and those that the listing never enters included (see
// listing.Options.Enter). dir is its full name, "" the root.
func (j *Join) Directory(dir string, entries []store.Info) {
	if dir == "" {
		return
	}
	for _, e := range entries {
		if e.Kind != store.Dir {
			return
		}
	}
	j.dirs.mu.Lock()
	defer j.dirs.mu.Unlock()
	if j.dirs.subdirs == nil {
		j.dirs.subdirs = make(map[lake.Key]int)
	}
	j.dirs.subdirs[lake.Listed(strings.Clone(dir))] = len(entries)
}

// emptyDirectories adds a row for each directory that is old and holds nothing
// but such directories. Deeper ones come first, so that parents can count them.
//
// Source: design/product.md, "Output of plan" and "Predicates"; spec/delta-vacuum.md 1.11.
func (j *Join) emptyDirectories(ctx context.Context, t *tally) error {
	if j.o.Stat == nil {
		return nil
	}
	deadBelow := make(map[lake.Key]int)
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(j.dirs.subdirs))) {
		if deadBelow[k] != j.dirs.subdirs[k] || !j.directoryMatches(k) || j.o.Hidden(k) || j.foreign.holds(k) || j.needed(k) {
			continue
		}
		now, err := j.o.Stat(ctx, string(k))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return &lake.Error{Op: "stat directory", Key: k, Kind: lake.KindOf(err), Err: err}
		case now.Kind != store.Dir || now.Modified.IsZero() || !j.old(now.Modified):
			continue
		}
		deadBelow[k.Dir()]++
		t.directories++
		t.dead = append(t.dead, lake.Verdict{Key: k, Directory: true, Size: -1, Modified: now.Modified, Reason: lake.EmptyDirectory})
	}
	return nil
}

func (j *Join) directoryMatches(k lake.Key) bool {
	if j.o.DirMatch != nil {
		return j.o.DirMatch(k)
	}
	return j.o.Match == nil
}
