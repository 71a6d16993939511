package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lakesweep/lakesweep/store"
)

// PutIfAbsent writes a temporary file beside the place, syncs it and links it
// there, which fails where something stands. Missing parents are made.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return s.fail("create", name, s.publish(ctx, name, data, publishNew))
}

// Replace writes a temporary file and renames it over the place. The condition
// holds against all processes that use this package on this machine; others
// can get in between.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (tag string, err error) {
	err = s.publish(ctx, name, data, func(dir *os.Root, temp, base string) error {
		return s.exclusive(dir, func() error {
			if err := matches(dir, base, ifMatch); err != nil && (ifMatch != "" || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
			fi, err := dir.Lstat(temp)
			if err != nil {
				return err
			}
			tag = etag(fi)
			return dir.Rename(temp, base)
		})
	})
	return tag, s.fail("replace", name, err)
}

// Remove removes a file.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.fail("remove", name, s.within(ctx, name, func(dir *os.Root, base string) error {
		return s.exclusive(dir, func() error {
			if err := matches(dir, base, ifMatch); err != nil {
				return err
			}
			return unlink(dir, base)
		})
	}))
}

// publish writes data to a temporary file and lets put bring it to its place.
func (s *Store) publish(ctx context.Context, name string, data []byte, put func(dir *os.Root, temp, base string) error) error {
	if parent, _, ok := cutLast(name); ok && canonical(name) {
		if err := s.root.MkdirAll(filepath.FromSlash(parent), 0o777); err != nil {
			return err
		}
	}
	return s.within(ctx, name, func(dir *os.Root, base string) error {
		temp := ".lakesweep-" + rand.Text() + ".tmp"
		err := writeSynced(dir, temp, data)
		if err == nil {
			err = put(dir, temp, base)
		}
		if e := dir.Remove(temp); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		if err != nil {
			return err
		}
		return syncDir(dir)
	})
}

func writeSynced(dir *os.Root, name string, data []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// publishNew puts temp at base unless something stands there.
func publishNew(dir *os.Root, temp, base string) error {
	err := dir.Link(temp, base)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, statErr := dir.Lstat(base); statErr == nil {
		return fs.ErrExist
	}
	if noLinks(err) {
		return renameNew(dir, temp, base)
	}
	return err
}

// matches fails with ErrChanged unless base's ETag is ifMatch; "" matches
// every object.
func matches(dir *os.Root, base, ifMatch string) error {
	fi, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist) && ifMatch != "":
		return store.ErrChanged
	case err != nil:
		return err
	case fi.IsDir():
		return fs.ErrInvalid
	case ifMatch != "" && etag(fi) != ifMatch:
		return store.ErrChanged
	}
	return nil
}

// within calls do with the directory that holds name. No component of the way
// there is a symlink.
func (s *Store) within(ctx context.Context, name string, do func(dir *os.Root, base string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	parent, base, _ := cutLast(name)
	if _, ok := localize(name); !ok {
		return fs.ErrInvalid
	}
	dir, err := s.openParent(parent)
	if err != nil {
		return missing(err)
	}
	return errors.Join(do(dir, base), dir.Close())
}

// openParent opens a directory component by component, refusing symlinks.
func (s *Store) openParent(name string) (*os.Root, error) {
	dir, err := s.root.OpenRoot(".")
	if err != nil || name == "" {
		return dir, err
	}
	for c := range strings.SplitSeq(name, "/") {
		next, err := openReal(dir, c)
		if err = errors.Join(err, dir.Close()); err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// openReal opens a subdirectory that is no symlink. What is opened is compared
// with what was looked at, so that a symlink put there in between is noticed.
func openReal(dir *os.Root, name string) (*os.Root, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotDir}
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotDir}
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

func cutLast(name string) (dir, base string, ok bool) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return "", name, false
}

// copyTo copies an open file into dir under a temporary name and publishes it.
func copyTo(dir *os.Root, base string, from io.Reader) error {
	temp := ".lakesweep-" + rand.Text() + ".tmp"
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = publishNew(dir, temp, base)
	}
	if e := dir.Remove(temp); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
