package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/store"
)

// Delete removes files and symlinks, never directories, each on its own. The
// condition of a target is looked at just before; it isn't atomic.
func (s *Store) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	if len(targets) > deleteBatch {
		return nil, s.fail("delete", "", fmt.Errorf("%d targets in one batch: %w", len(targets), fs.ErrInvalid))
	}
	outcomes := make([]store.Outcome, len(targets))
	var dir *os.Root // of the target before
	var parent string
	for i, t := range targets {
		outcomes[i].Target = t
		next, base, _ := cutLast(t.Name)
		err := ctx.Err()
		if _, ok := localize(t.Name); !ok && err == nil {
			err = fs.ErrInvalid
		}
		if t.Version != "" && err == nil {
			err = store.ErrUnsupported
		}
		if err == nil && (dir == nil || parent != next) {
			if dir != nil {
				err = dir.Close()
			}
			if err == nil {
				parent = next
				dir, err = s.openParent(next)
			}
		}
		if err == nil && t.IfMatch != "" {
			if err = matches(dir, base, t.IfMatch); errors.Is(err, store.ErrChanged) {
				if _, e := dir.Lstat(base); errors.Is(e, fs.ErrNotExist) {
					err = e
				}
			}
		}
		if err == nil {
			err = unlink(dir, base)
		}
		outcomes[i].Err = s.fail("delete", t.Name, missing(err))
	}
	if dir != nil {
		if err := dir.Close(); err != nil {
			return outcomes, s.fail("delete", "", err)
		}
	}
	return outcomes, nil
}

// DeleteDir removes an empty directory that is no symlink.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.fail("remove directory", name, s.within(ctx, name, func(dir *os.Root, base string) error {
		return missing(rmdir(dir, base))
	}))
}

// Copy links a file to its new place, or copies it where a link can't reach.
func (s *Store) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	dest, ok := store.Unwrap(to).(*Store)
	if !ok {
		return s.fail("copy", name, store.ErrUnsupported)
	}
	return s.fail("copy", name, s.copy(ctx, name, dest, toName))
}

func (s *Store) copy(ctx context.Context, name string, dest *Store, toName string) error {
	from, ok := localize(name)
	if !ok {
		return fs.ErrNotExist
	}
	if parent, _, ok := cutLast(toName); ok && canonical(toName) {
		if err := dest.root.MkdirAll(filepath.FromSlash(parent), 0o777); err != nil {
			return err
		}
	}
	return dest.within(ctx, toName, func(dir *os.Root, base string) error {
		f, err := s.root.Open(from)
		if err != nil {
			return missing(err)
		}
		fi, err := f.Stat()
		if err == nil && !fi.Mode().IsRegular() {
			err = fmt.Errorf("no regular file: %w", fs.ErrInvalid)
		}
		if err == nil {
			err = linkOpen(f, filepath.Join(s.base, from), dir, base)
		}
		if err == nil {
			err = syncDir(dir)
		}
		return errors.Join(err, f.Close())
	})
}

// linkOpen gives the file at path, open as f, a second name, or copies it to
// there with its modification time.
func linkOpen(f *os.File, path string, dir *os.Root, base string) error {
	if err := hardLink(path, dir, base); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return copyTo(dir, base, f)
}
