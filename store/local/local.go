// Package local is the store of a directory on a local or mounted file system.
//
//  1. All calls go through an os.Root: neither ".." nor a symlink leads out.
//  2. Listings read names and kinds only, by directory, without a stat
//     (Traits.NamesFirst). Symlinks are listed as such and never descended.
//  3. Only canonical names exist: "a//b", "./a" and "a/" are no objects here,
//     although the system would find something under them.
//  4. Nothing is deleted or written through a symlinked parent, not even one
//     that stays inside: the object would have two names.
//  5. A file is published by a link or a rename of a synced temporary file, so
//     that it is there whole or not at all.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

const (
	pageSize    = 16384 // entries; about 2 MiB
	deleteBatch = 1000
	maxStreams  = 256 // directories larger than a page that are read at the same time
)

// Store is a directory. Safe for concurrent use.
type Store struct {
	place lake.Root
	base  string // the resolved directory, in the system's spelling
	root  *os.Root
	dir   *os.File // root once more, for system calls relative to it
	folds bool

	replace sync.Mutex // makes the condition of Replace and Remove atomic in this process

	buffers sync.Pool // of *[]byte, for listings

	mu      sync.Mutex
	streams map[string]*stream // by token
	tokens  int64
}

var _ store.Store = (*Store)(nil)

// Open opens the directory that root names. A symlink there is followed once,
// now; Traits.Resolved then tells the real place. It is a store.OpenFunc.
//
// Errors: fs.ErrNotExist, fs.ErrPermission, Invalid if it is no directory.
func Open(ctx context.Context, root lake.Root) (store.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, store.Fail("open", root, "", err)
	}
	base, err := filepath.EvalSymlinks(systemPath(root))
	switch err = missing(err); {
	case err == nil:
		err = isDirectory(base)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission): // links that lead round in a circle
		err = &lake.Error{Kind: lake.Invalid, Err: err, Hint: "Name the folder itself."}
	}
	if err != nil {
		return nil, store.Fail("open", root, "", err)
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, store.Fail("open", root, "", err)
	}
	file, err := dir.Open(".")
	if err != nil {
		return nil, store.Fail("open", root, "", errors.Join(err, dir.Close()))
	}
	s := &Store{place: root, base: base, root: dir, dir: file, streams: map[string]*stream{}}
	s.folds = s.foldsCase()
	return s, nil
}

// isDirectory looks before anything is opened: opening a pipe would wait for its
// writer, and nothing could end that.
func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &lake.Error{Kind: lake.Invalid, Err: errors.New("is no directory"), Hint: "Name the folder that holds _delta_log or .hoodie."}
	}
	return err
}

// Traits describes the file system.
func (s *Store) Traits() store.Traits {
	t := store.Traits{Name: "local", NamesFirst: true, Directories: true, CaseFolds: s.folds, PutIfAbsent: true,
		DeleteBatch: deleteBatch, PageSize: pageSize, ClockGrain: time.Nanosecond}
	if real := placeOf(s.base); real.Path != s.place.Path {
		t.Resolved = real
	}
	return t
}

// Status has no clock: the times of a local file system are our own clock's. On
// a network file system they are the server's, which can't be asked; Note says so.
func (s *Store) Status(ctx context.Context) (store.Status, error) {
	if remote(s.base) {
		return store.Status{Note: "a network file system: file times are its server's, whose clock can't be read without writing"}, ctx.Err()
	}
	return store.Status{}, ctx.Err()
}

// Stat describes a file, a directory or a symlink.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	path, err := s.existing(ctx, name)
	if err != nil {
		return store.Info{}, s.fail("stat", name, err)
	}
	st, err := lstat(s.root, s.dir, path)
	if err != nil && escapes(err) {
		err = fmt.Errorf("a symlink on the way leads out of %s, and none is followed: %w", s.base, fs.ErrPermission)
	}
	if err != nil {
		return store.Info{}, s.fail("stat", name, missing(err))
	}
	return store.Info{Name: name, Kind: kindOf(st.mode), Size: st.size, Modified: st.modified, ETag: st.etag()}, nil
}

// escapes reports an error of os.Root, which has no name, that a path leads out of it.
func escapes(err error) bool { return strings.Contains(err.Error(), "path escapes from parent") }

// Open reads a part of a file.
func (s *Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	path, err := s.existing(ctx, name)
	if err == nil && offset < 0 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, s.fail("read", name, err)
	}
	f, err := s.root.Open(path)
	if err != nil {
		return nil, s.fail("read", name, missing(err))
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = fmt.Errorf("no regular file: %w", fs.ErrInvalid)
		}
		return nil, s.fail("read", name, err)
	}
	if length < 0 {
		length = 1<<63 - 1 - offset
	}
	return section{io.NewSectionReader(f, offset, length), f}, nil
}

// section is a part of a file that closes the file.
type section struct {
	io.Reader
	io.Closer
}

// existing turns a name into a path below the root. A name that isn't canonical
// names nothing here.
func (s *Store) existing(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	path, ok := localize(name)
	if !ok {
		return "", fs.ErrNotExist
	}
	return path, nil
}

// canonical reports whether name is spelled as a listing spells it.
func canonical(name string) bool {
	for c := range strings.SplitSeq(name, "/") {
		if c == "" || c == "." || c == ".." || strings.IndexByte(c, 0) >= 0 {
			return false
		}
	}
	return true
}

func kindOf(m fs.FileMode) store.EntryKind {
	switch {
	case m.IsRegular():
		return store.File
	case m.IsDir():
		return store.Dir
	case m&fs.ModeSymlink != 0:
		return store.Symlink
	}
	return store.Other
}

// etag changes whenever a file is replaced or written to.
func etag(fi fs.FileInfo) string { return statusOf(fi).etag() }

func (s *Store) fail(op, name string, err error) error { return store.Fail(op, s.place, name, err) }

// foldsCase looks, without writing, whether a name that exists is also found
// with its case changed.
func (s *Store) foldsCase() bool {
	for _, name := range []string{"_delta_log", ".hoodie"} {
		if a, err := s.root.Lstat(name); err == nil {
			b, err := s.root.Lstat(swapCase(name))
			return err == nil && os.SameFile(a, b)
		}
	}
	dir, name := filepath.Split(s.base)
	if swapCase(name) == name {
		return foldsByDefault
	}
	a, errA := os.Lstat(s.base)
	b, errB := os.Lstat(filepath.Join(dir, swapCase(name)))
	if errA != nil {
		return foldsByDefault
	}
	return errB == nil && os.SameFile(a, b)
}

func swapCase(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	return strings.ToLower(s)
}
