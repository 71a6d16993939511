package folder

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
)

// Lister lists the partitions of a table. Safe for concurrent use.
type Lister struct {
	Reader  store.Reader
	Files   *mdt.Files // what the metadata table lists; nil if there is none, or it can't be trusted
	Workers int        // partitions listed at once
	spare   sync.Pool  // of *[]File, for the next folder's
}

// List lists one folder of the table, "" for its root. Where a metadata table
// tells the sizes of files, they aren't looked up one by one.
func (l *Lister) List(ctx context.Context, dir string) (f Partition, requests int64, err error) {
	f.Path = dir
	req := store.PageRequest{Dirs: true, Details: l.Files == nil}
	if dir != "" {
		req.Prefix = dir + "/"
	}
	if spare, ok := l.spare.Get().(*[]File); ok {
		f.Files = *spare
	}
	for {
		page, err := l.Reader.List(ctx, req)
		if err != nil {
			return f, requests, err
		}
		requests++
		f.Files = slices.Grow(f.Files, len(page.Entries))
		for i := range page.Entries {
			f.add(&page.Entries[i])
		}
		if page.Next == "" {
			return f, requests, nil
		}
		req.Token = page.Next
	}
}

// release gives the memory of a folder's files to another folder.
func (l *Lister) release(f *Partition) {
	clear(f.Files[:cap(f.Files)])
	f.Files = f.Files[:0]
	l.spare.Put(&f.Files)
}

// Reconcile lays the metadata table's listing over the folder's: only what it
// lists is part of the table, and what it lists alone is missing.
func (l *Lister) Reconcile(f *Partition) error {
	if l.Files == nil {
		return nil
	}
	listed, err := l.Files.Partition(f.Path)
	if err != nil {
		return err
	}
	known := f.Files[:0]
	for _, have := range f.Files {
		size, ok := listed[have.Name]
		if !ok {
			f.Unlisted = append(f.Unlisted, have)
			continue
		}
		have.Listed = size
		if have.Size < 0 && size > 0 {
			have.Size = size
		}
		known = append(known, have)
		delete(listed, have.Name)
	}
	for name, size := range listed {
		if datafile.External(name) {
			return &lake.Error{Op: "list partition", Key: lake.Key(f.Path), Kind: lake.Unsupported, Err: fmt.Errorf("%s was written by another engine and registered", name),
				Hint: "Clean tables with registered external files with Hudi itself."}
		}
		if d, ok := datafile.Parse(name); ok {
			known = append(known, File{File: d, Key: f.Key(name), Size: size, Missing: true})
		}
	}
	f.Files = known
	return nil
}

// Walk visits partitions, some at a time: those of the list, or,
// with descend, every one found below the folders of the list.
//
// Memory: the names of the folders of one level, and one partition a worker.
// Source: Hudi 1.2.0, FileSystemBackedTableMetadata; spec/hudi-clean.md 4.1.
func (l *Lister) Walk(ctx context.Context, list []string, descend bool, visit func(context.Context, Partition) error) (requests int64, err error) {
	return l.Traverse(ctx, list, func(f Partition) bool { return descend && f.Marker == nil && !f.Nested },
		func(f Partition) bool { return !descend || f.Marker != nil }, visit)
}

// Traverse visits the folders that are partitions, of the list and below those
// that it is to enter.
func (l *Lister) Traverse(ctx context.Context, list []string, enter, partition func(Partition) bool, visit func(context.Context, Partition) error) (requests int64, err error) {
	for len(list) > 0 {
		var mu sync.Mutex
		var next []string
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(l.Workers)
		for _, dir := range list {
			g.Go(func() error {
				f, n, err := l.List(gctx, dir)
				defer l.release(&f)
				mu.Lock()
				requests += n
				if enter(f) {
					next = append(next, f.Dirs...)
				}
				mu.Unlock()
				if err != nil || !partition(f) {
					return err
				}
				if err := l.Reconcile(&f); err != nil {
					return err
				}
				return visit(gctx, f)
			})
		}
		if err := g.Wait(); err != nil {
			return requests, err
		}
		list = next
	}
	return requests, nil
}

// All returns where a walk over the whole table begins.
func (l *Lister) All() (list []string, descend bool, err error) {
	if l.Files == nil {
		return []string{""}, true, nil
	}
	list, err = l.Files.Partitions()
	if err != nil {
		return nil, false, err
	}
	for _, p := range list {
		if err := Check(p); err != nil {
			return nil, false, err
		}
	}
	return list, false, nil
}
