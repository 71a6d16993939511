package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sys/windows"
)

var errNotDir error = syscall.ENOTDIR

const foldsByDefault = true

// systemPath turns "/C:/tables/t" into "C:\tables\t".
func systemPath(root lake.Root) string {
	if drive, rest, ok := strings.Cut(root.Path, ":"); ok && len(drive) == 1 {
		return drive + ":" + filepath.FromSlash("/"+strings.TrimPrefix(rest, "/"))
	}
	return filepath.FromSlash("/" + root.Path)
}

// placeOf is systemPath's inverse.
func placeOf(path string) lake.Root {
	return lake.Root{Scheme: "file", Path: strings.Trim(filepath.ToSlash(path), "/")}
}

// localize returns the system's spelling of a canonical name that Windows can hold.
func localize(name string) (string, bool) {
	if !canonical(name) {
		return "", false
	}
	path, err := filepath.Localize(name)
	return path, err == nil
}

func missing(err error) error {
	if notDir(err) {
		return fs.ErrNotExist
	}
	return err
}

func notDir(err error) bool {
	return errors.Is(err, errNotDir) || errors.Is(err, windows.ERROR_DIRECTORY)
}

func noLinks(error) bool { return false }

func inode(fs.FileInfo) uint64 { return 0 }

// unlink removes a file or a symlink, never a directory.
func unlink(dir *os.Root, base string) error {
	fi, err := dir.Lstat(base)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return &fs.PathError{Op: "remove", Path: base, Err: fs.ErrInvalid}
	}
	return dir.Remove(base)
}

// rmdir removes an empty directory; fs.ErrExist if it isn't empty.
func rmdir(dir *os.Root, base string) error {
	fi, err := dir.Lstat(base)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fs.ErrNotExist
	}
	err = dir.Remove(base)
	if errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) {
		return &fs.PathError{Op: "rmdir", Path: base, Err: fs.ErrExist}
	}
	return err
}

func renameNew(*os.Root, string, string) error { return store.ErrUnsupported }

// syncDir has nothing to do: NTFS journals names.
func syncDir(*os.Root) error { return nil }

func hardLink(path string, dir *os.Root, base string) error {
	return os.Link(path, filepath.Join(dir.Name(), base))
}

func (s *Store) exclusive(_ *os.Root, do func() error) error {
	s.replace.Lock()
	defer s.replace.Unlock()
	return do()
}

func remote(string) bool { return false }
