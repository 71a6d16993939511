package listing

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/store"
)

// Reach is how much of what lies below a directory a walk is after.
type Reach uint8

// The reaches, as Options.Reach returns them.
const (
	Nothing Reach = iota // nothing below it: it isn't listed
	Part                 // maybe something: its subdirectories tell
	Whole                // all of it
)

// Except returns the ranges of all names but those below the given
// directories, none of which may lie in another: such as a table's log. Names
// that begin with U+10FFFF there may come all the same.
func Except(dirs ...string) []Range {
	ranges := []Range{{}}
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		ranges[len(ranges)-1].Before = dir + "/"
		ranges = append(ranges, Range{After: dir + "/\U0010FFFF"})
	}
	return ranges
}

// A pruning finds out which parts of a flat listing Options.Reach needs, by
// reading the upper directories one by one, level by level. It goes down only
// as long as that takes few requests compared with listing the same names
// flat, so that a pruned listing never costs noticeably more than a whole one.
type pruning struct {
	w      *walk
	ranges []Range // what is left to be listed flat
	keys   float64 // names that they are guessed to hold
}

const (
	pruneWorth   = 4   // pages that a directory's names must fill on average to read it for its subdirectories
	pruneUnknown = 256 // directories read at most if nobody knows how many names there are
	pruneWorkers = 64  // concurrent requests
)

// prune reads directories, emits the files in them and returns the ranges that
// are still to be listed.
func (w *walk) prune(ctx context.Context) ([]Range, error) {
	p := &pruning{w: w}
	keys := float64(w.o.Expected)
	if w.o.Expected == 0 {
		keys = pruneUnknown * pruneWorth * w.pageKeys()
	}
	level := []string{""}
	if !w.worth(keys, 1) {
		return []Range{{}}, nil
	}
	for len(level) > 0 {
		var err error
		if level, keys, err = p.level(ctx, level, keys); err != nil {
			return nil, err
		}
	}
	if w.o.Expected > 0 {
		w.guess = max(1, p.keys)
	}
	return p.ranges, nil
}

// pageKeys returns how many names a page of the store holds.
func (w *walk) pageKeys() float64 {
	if n := w.r.Traits().PageSize; n > 0 {
		return float64(n)
	}
	return 1000
}

// worth reports whether to read dirs directories that hold so many names.
func (w *walk) worth(keys float64, dirs int) bool {
	return keys >= pruneWorth*w.pageKeys()*float64(dirs)
}

// level reads directories that hold about keys names, and returns those of
// their subdirectories to read next, with the names that they hold.
func (p *pruning) level(ctx context.Context, dirs []string, keys float64) (next []string, nextKeys float64, err error) {
	read := make([][]store.Info, len(dirs))
	whole := make([]bool, len(dirs))
	most := max(4, int(keys/float64(len(dirs))/p.w.pageKeys()/16))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(pruneWorkers)
	for i, dir := range dirs {
		g.Go(func() (err error) {
			if read[i], whole[i], err = p.directory(gctx, dir, most); err != nil {
				return rangeError(fmt.Sprintf("directory %q", dir), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	all, parts := 0, 0
	reach := make([][]Reach, len(dirs))
	for i, entries := range read {
		reach[i] = make([]Reach, len(entries))
		for j, e := range entries {
			if e.Kind != store.Dir {
				continue
			}
			all++
			if reach[i][j] = p.w.o.Reach(e.Name); reach[i][j] == Part {
				parts++
			}
		}
	}
	each := keys / float64(max(all, 1))
	nextKeys = each * float64(parts)
	down := p.w.worth(nextKeys, parts)
	for i, entries := range read {
		if !whole[i] {
			p.ranges = append(p.ranges, Below(dirs[i]))
			p.keys += keys / float64(len(dirs))
			continue
		}
		part, err := p.sort(entries, reach[i], each, down)
		if err != nil {
			return nil, 0, err
		}
		next = append(next, part...)
	}
	return next, nextKeys, nil
}

// sort emits the files among a directory's entries and makes ranges of its
// subdirectories, each of which holds about so many names; if down, those that
// are needed in part are returned instead. Ranges are joined across
// subdirectories that are cheaper to list than to jump over.
func (p *pruning) sort(entries []store.Info, reach []Reach, each float64, down bool) (part []string, err error) {
	var files []store.Info
	joined, gap := false, 0.0 // whether the last range may be prolonged; names since its end
	for i, e := range entries {
		switch {
		case e.Kind != store.Dir:
			files = append(files, e)
			joined = false
		case reach[i] == Nothing:
			gap += each
		case reach[i] == Part && down:
			part = append(part, e.Name)
			joined = false
		case joined && gap < p.w.pageKeys():
			p.ranges[len(p.ranges)-1].Before = Below(e.Name).Before
			p.keys += each + gap
			gap = 0
		default:
			p.ranges = append(p.ranges, Below(e.Name))
			p.keys += each
			joined, gap = true, 0
		}
	}
	if len(files) == 0 {
		return part, nil
	}
	p.w.mu.Lock()
	p.w.st.Keys += int64(len(files))
	p.w.mu.Unlock()
	return part, p.w.emit(files)
}

// directory reads a directory of at most so many pages; whole is false if it
// has more, or so many files that they are better listed flat.
func (p *pruning) directory(ctx context.Context, dir string, most int) (entries []store.Info, whole bool, err error) {
	req := store.PageRequest{Dirs: true}
	if dir != "" {
		req.Prefix = dir + "/"
	}
	for range most {
		page, err := p.w.retried(ctx, req)
		if err != nil {
			return nil, false, err
		}
		p.w.mu.Lock()
		p.w.st.Skeleton++
		p.w.mu.Unlock()
		prev := ""
		if n := len(entries); n > 0 {
			prev = entries[n-1].Listed()
		}
		files := 0
		for _, e := range page.Entries {
			if e.Listed() <= prev {
				return nil, false, fmt.Errorf("%w: %q comes after %q", errOrder, e.Listed(), prev)
			}
			prev = e.Listed()
			if e.Kind != store.Dir {
				files++
			}
		}
		entries = append(entries, page.Entries...)
		if page.Next == "" {
			return entries, true, nil
		}
		if files > len(page.Entries)/2 {
			return nil, false, nil
		}
		req.Token = page.Next
	}
	return nil, false, nil
}
