package antijoin

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// directories remembers the directories without a file directly in them:
// only those can be empty through and through.
type directories struct {
	mu   sync.Mutex
	seen map[lake.Key]directory
}

type directory struct {
	info    store.Info
	subdirs int
}

// Directory tells of a directory that a listing saw whole: how many entries
// that are no directories lie directly in it, hidden ones included, and how
// many directories, those included that the listing never enters. A zero
// info.Modified is read by Stat if it matters.
func (j *Join) Directory(info store.Info, files, subdirs int) {
	if files > 0 || info.Name == "" {
		return
	}
	j.dirs.mu.Lock()
	defer j.dirs.mu.Unlock()
	if j.dirs.seen == nil {
		j.dirs.seen = make(map[lake.Key]directory)
	}
	j.dirs.seen[lake.Listed(info.Name)] = directory{info, subdirs}
}

// emptyDirectories adds a row for each directory that is old and holds nothing
// but such directories. Deeper ones come first, so that parents can count them.
//
// Source: design/product.md, "Output of plan" and "Predicates"; spec/delta-vacuum.md 1.11.
func (j *Join) emptyDirectories(ctx context.Context, t *tally) error {
	deadBelow := make(map[lake.Key]int)
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(j.dirs.seen))) {
		d := j.dirs.seen[k]
		if deadBelow[k] != d.subdirs || !j.directoryMatches(k) || j.o.Hidden(k) || j.foreign.holds(k) || j.protected(k) {
			continue
		}
		modified := d.info.Modified
		if modified.IsZero() && j.o.Stat != nil {
			now, err := j.o.Stat(ctx, d.info.Name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return &lake.Error{Op: "stat directory", Key: k, Kind: lake.KindOf(err), Err: err}
			case now.Kind == store.Dir:
				modified = now.Modified
			}
		}
		if modified.IsZero() || !j.old(modified) {
			continue
		}
		deadBelow[k.Dir()]++
		t.directories++
		t.dead = append(t.dead, lake.Verdict{Key: k, Directory: true, Size: -1, Modified: modified, Reason: lake.EmptyDirectory})
	}
	return nil
}

func (j *Join) directoryMatches(k lake.Key) bool {
	if j.o.DirMatch != nil {
		return j.o.DirMatch(k)
	}
	return j.o.Match == nil
}
