package filelist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a local file whole or not at all: beside its place first, and
// moved there once fill has written it and it is safe on the disk. A file that
// is there already is replaced, behind a symlink the one that it leads to;
// a folder, a device or a pipe never is.
//
// Errors: fill's; those of the file system.
func Replace(path string, fill func(io.Writer) error) error {
	place, err := replaceable(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(place), ".lakesweep-*")
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), place)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// replaceable returns the place of a file that may be replaced, or that isn't
// there yet.
func replaceable(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is there and is no file that could be replaced", path)
	}
	return real, err
}
