package antijoin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// foreignRoots are the tables found below the root of the one that is swept.
// Listings show their marks only as keys pass, so the set grows during a join.
// Safe for concurrent use.
type foreignRoots struct {
	roots atomic.Pointer[map[lake.Key]struct{}] // replaced whole, never changed
	mu    sync.Mutex
}

// holds reports whether k lies below a foreign root known so far.
func (f *foreignRoots) holds(k lake.Key) bool {
	roots := f.roots.Load()
	if roots == nil {
		return false
	}
	for _, end := range k.Components {
		if _, ok := (*roots)[k[:end]]; ok && end < len(k) {
			return true
		}
	}
	return false
}

func (f *foreignRoots) add(root lake.Key) {
	if f.holds(root + "/") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[lake.Key]struct{}{lake.Key(strings.Clone(string(root))): {}}
	if have := f.roots.Load(); have != nil {
		for k := range *have {
			if !k.Below(root) {
				next[k] = struct{}{}
			}
		}
	}
	f.roots.Store(&next)
}

func (f *foreignRoots) empty() bool { return f.roots.Load() == nil }

// sorted returns the outermost roots in byte order.
func (f *foreignRoots) sorted() []string {
	roots := f.roots.Load()
	if roots == nil {
		return nil
	}
	var names []string
	for _, k := range slices.Sorted(maps.Keys(*roots)) {
		names = append(names, string(k))
	}
	return names
}

// foreignRoot returns the root of the foreign table that the name k gives
// away: the folder below the swept root that holds `_delta_log`, `.hoodie` or
// `metadata/*.metadata.json`. directory says that k itself is a directory.
//
// Source: design/product.md, "Foreign tables".
func foreignRoot(k lake.Key, directory bool) (lake.Key, bool) {
	if !marked(string(k)) && !lake.IcebergMetadata(string(k)) {
		return "", false
	}
	for name, end := range k.Components {
		start := end - len(name)
		if start == 0 || end == len(k) && !directory {
			continue
		}
		if name == "_delta_log" || name == ".hoodie" {
			return k[:start-1], true
		}
	}
	if dir := k.Dir(); !directory && lake.IcebergMetadata(string(k)) && dir.Base() == "metadata" && dir.Dir() != "" {
		return dir.Dir(), true
	}
	return "", false
}

// marked reports whether a component below the first begins like a log's folder.
func marked(name string) bool {
	for {
		i := strings.IndexByte(name, '/')
		if i < 0 || i+1 == len(name) {
			return false
		}
		name = name[i+1:]
		if name[0] == '_' || name[0] == '.' {
			return true
		}
	}
}

// looksAtOnce is how many directories Options.Inside is asked about at once.
const looksAtOnce = 32

// lookInside asks which foreign tables the dead rows lie in.
func (j *Join) lookInside(ctx context.Context) error {
	if j.o.Inside == nil || j.whole.Load() {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(looksAtOnce)
	last := lake.Key("")
	err := j.rows.Visit(func(r filelist.Packed) error {
		dir := lake.Key(r.Path()).Dir()
		if dir == last || j.foreign.holds(dir+"/") {
			return ctx.Err()
		}
		last = dir
		group.Go(func() error {
			root, ok, err := j.o.Inside(ctx, dir)
			if ok && err == nil {
				j.Foreign(root)
			}
			return err
		})
		return ctx.Err()
	})
	if waited := group.Wait(); waited != nil {
		return waited
	}
	return err
}
