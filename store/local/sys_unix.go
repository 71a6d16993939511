//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/lakesweep/lakesweep/lake"
	"golang.org/x/sys/unix"
)

var errNotDir error = syscall.ENOTDIR

// systemPath returns the path that root names.
func systemPath(root lake.Root) string { return "/" + root.Path }

// placeOf is systemPath's inverse.
func placeOf(path string) lake.Root {
	return lake.Root{Scheme: "file", Path: strings.Trim(path, "/")}
}

// localize returns the system's spelling of a canonical name.
func localize(name string) (string, bool) { return name, canonical(name) }

// missing makes "a parent is no directory" and "the name is too long" what they
// mean for a name: there is no such object.
func missing(err error) error {
	if notDir(err) || errors.Is(err, syscall.ENAMETOOLONG) {
		return &fs.PathError{Op: "find", Path: "parent", Err: fs.ErrNotExist}
	}
	return err
}

// notDir reports that a directory was expected where something else stands; a
// symlink opened with O_NOFOLLOW gives ELOOP or ENOTDIR.
func notDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS)
}

func inode(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// unlink removes a file or a symlink, never a directory.
func unlink(dir *os.Root, base string) error { return removeAt(dir, base, 0) }

// rmdir removes an empty directory; fs.ErrExist if it isn't empty.
func rmdir(dir *os.Root, base string) error {
	err := removeAt(dir, base, unix.AT_REMOVEDIR)
	if errors.Is(err, syscall.ENOTEMPTY) {
		return &fs.PathError{Op: "rmdir", Path: base, Err: fs.ErrExist}
	}
	return err
}

func removeAt(dir *os.Root, base string, flags int) error {
	return withFD(dir, func(fd int) error {
		if err := unix.Unlinkat(fd, base, flags); err != nil {
			return &fs.PathError{Op: "unlinkat", Path: base, Err: err}
		}
		return nil
	})
}

func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // the file system can't sync a directory
	}
	return errors.Join(err, f.Close())
}

// hardLink links the file at path into dir.
func hardLink(path string, dir *os.Root, base string) error {
	return withFD(dir, func(fd int) error {
		if err := unix.Linkat(unix.AT_FDCWD, path, fd, base, 0); err != nil {
			return &fs.PathError{Op: "linkat", Path: base, Err: err}
		}
		return nil
	})
}

// exclusive keeps other processes that use this package out of a directory.
// Where the file system has no locks, only those of this process.
func (s *Store) exclusive(dir *os.Root, do func() error) error {
	s.replace.Lock()
	defer s.replace.Unlock()
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return errors.Join(do(), f.Close())
	}
	return errors.Join(do(), f.Close()) // closing unlocks
}

func withFD(dir *os.Root, do func(fd int) error) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(do(int(f.Fd())), f.Close())
}
