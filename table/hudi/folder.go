package hudi

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/datafile"
	"github.com/lakesweep/lakesweep/table/hudi/mdt"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// folder is one partition as its folder, and the metadata table, show it. Who
// is given it to visit keeps nothing of files: another partition's come there.
type folder struct {
	partition string
	files     []file      // base and log files that are part of the table, missing ones included
	unlisted  []file      // in the folder, but not in the metadata table
	marker    *store.Info // .hoodie_partition_metadata
	foreign   []string    // names of other files and folders
	links     []string    // those of foreign that are symlinks
	dirs      []string    // sub-folders, with their path
	nested    bool        // another table's root
}

// file is a base or log file of a partition.
type file struct {
	datafile.File
	key      lake.Key  // Name is its end
	size     int64     // bytes; -1 if unknown
	modified time.Time // zero if unknown
	etag     string
	listed   int64 // size by the metadata table; 0 if it doesn't say
	missing  bool  // the metadata table lists it, the folder doesn't
}

// lister lists the partitions of a table. Safe for concurrent use.
type lister struct {
	reader  store.Reader
	files   *mdt.Files // what the metadata table lists; nil if there is none, or it can't be trusted
	workers int        // partitions listed at once
	spare   sync.Pool  // of *[]file, for the next folder's
}

// list lists one folder of the table, "" for its root. Where a metadata table
// tells the sizes of files, they aren't looked up one by one.
func (l *lister) list(ctx context.Context, dir string) (f folder, requests int64, err error) {
	f.partition = dir
	req := store.PageRequest{Dirs: true, Details: l.files == nil}
	if dir != "" {
		req.Prefix = dir + "/"
	}
	if spare, ok := l.spare.Get().(*[]file); ok {
		f.files = *spare
	}
	for {
		page, err := l.reader.List(ctx, req)
		if err != nil {
			return f, requests, err
		}
		requests++
		f.files = slices.Grow(f.files, len(page.Entries))
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
func (l *lister) release(f *folder) {
	clear(f.files[:cap(f.files)])
	f.files = f.files[:0]
	l.spare.Put(&f.files)
}

func (f *folder) add(e *store.Info) {
	name := lake.Key(e.Name).Base() // shares the page's memory, which goes with the partition
	switch {
	case e.Kind == store.Dir || e.Kind == store.Marker && e.Name != f.partition:
		f.dir(name)
	case e.Kind == store.Marker:
	case e.Kind != store.File:
		f.foreign = append(f.foreign, name)
		if e.Kind == store.Symlink {
			f.links = append(f.links, strings.Clone(name))
		}
	case datafile.IsPartitionMetadata(name):
		marker := *e
		marker.Name = strings.Clone(e.Name)
		f.marker = &marker
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".crc"): // Hadoop's checksum of a file
	default:
		if d, ok := datafile.Parse(name); ok {
			f.files = append(f.files, file{File: d, key: lake.Key(e.Name), size: e.Size, modified: e.Modified, etag: e.ETag})
		} else {
			f.foreign = append(f.foreign, name)
		}
	}
}

func (f *folder) dir(name string) {
	switch {
	case name == timeline.Dir && f.partition == "":
	case name == timeline.Dir || name == "_delta_log":
		f.nested = f.nested || f.partition != ""
		f.foreign = append(f.foreign, name)
	default:
		f.foreign = append(f.foreign, name)
		f.dirs = append(f.dirs, strings.Clone(string(f.key(name)))) // outlives the folder
	}
}

// reconcile lays the metadata table's listing over the folder's: only what it
// lists is part of the table, and what it lists alone is missing.
func (l *lister) reconcile(f *folder) error {
	if l.files == nil {
		return nil
	}
	listed, err := l.files.Partition(f.partition)
	if err != nil {
		return err
	}
	known := f.files[:0]
	for _, have := range f.files {
		size, ok := listed[have.Name]
		if !ok {
			f.unlisted = append(f.unlisted, have)
			continue
		}
		have.listed = size
		if have.size < 0 && size > 0 {
			have.size = size
		}
		known = append(known, have)
		delete(listed, have.Name)
	}
	for name, size := range listed {
		if datafile.External(name) {
			return &lake.Error{Op: "list partition", Key: lake.Key(f.partition), Kind: lake.Unsupported, Err: fmt.Errorf("%s was written by another engine and registered", name),
				Hint: "Clean tables with registered external files with Hudi itself."}
		}
		if d, ok := datafile.Parse(name); ok {
			known = append(known, file{File: d, key: f.key(name), size: size, missing: true})
		}
	}
	f.files = known
	return nil
}

// walk visits partitions, some at a time: those of the list, or,
// with descend, every one found below the folders of the list.
//
// Memory: the names of the folders of one level, and one partition a worker.
// Source: Hudi 1.2.0, FileSystemBackedTableMetadata; spec/hudi-clean.md 4.1.
func (l *lister) walk(ctx context.Context, list []string, descend bool, visit func(context.Context, folder) error) (requests int64, err error) {
	return l.traverse(ctx, list, func(f folder) bool { return descend && f.marker == nil && !f.nested },
		func(f folder) bool { return !descend || f.marker != nil }, visit)
}

// traverse visits the folders that are partitions, of the list and below those
// that it is to enter.
func (l *lister) traverse(ctx context.Context, list []string, enter, partition func(folder) bool, visit func(context.Context, folder) error) (requests int64, err error) {
	for len(list) > 0 {
		var mu sync.Mutex
		var next []string
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(l.workers)
		for _, dir := range list {
			g.Go(func() error {
				f, n, err := l.list(gctx, dir)
				defer l.release(&f)
				mu.Lock()
				requests += n
				if enter(f) {
					next = append(next, f.dirs...)
				}
				mu.Unlock()
				if err != nil || !partition(f) {
					return err
				}
				if err := l.reconcile(&f); err != nil {
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

// all returns where a walk over the whole table begins.
func (l *lister) all() (list []string, descend bool, err error) {
	if l.files == nil {
		return []string{""}, true, nil
	}
	list, err = l.files.Partitions()
	if err != nil {
		return nil, false, err
	}
	for _, p := range list {
		if err := checkPartition(p); err != nil {
			return nil, false, err
		}
	}
	return list, false, nil
}

// checkPartition refuses a partition path that could lead out of the table.
func checkPartition(p string) error {
	if p != "" && (path.Clean("/"+p) != "/"+p || p == timeline.Dir || strings.HasPrefix(p, timeline.Dir+"/")) {
		return &lake.Error{Op: "read metadata", Key: lake.Key(p), Kind: lake.Damaged, Err: errors.New("no partition can have this path")}
	}
	return nil
}

func (f *folder) key(name string) lake.Key { return keyIn(f.partition, name) }

// keyIn returns the key of a file of a partition.
func keyIn(partition, name string) lake.Key {
	if partition == "" {
		return lake.Key(name)
	}
	return lake.Key(partition + "/" + name)
}
