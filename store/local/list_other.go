//go:build !linux

package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/store"
)

// openDir opens a directory for reading its names. os.Root would follow
// symlinks that stay inside; here no component may be one.
func openDir(root *os.Root, path string) (*os.File, error) {
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != filepath.Separator {
			continue
		}
		fi, err := root.Lstat(path[:i])
		if err != nil {
			return nil, err
		}
		if !fi.IsDir() {
			return nil, fmt.Errorf("no directory: %w", fs.ErrNotExist)
		}
	}
	return root.Open(path)
}

// read returns up to limit entries, and io.EOF with the last of them.
func (d *stream) read(limit int) ([]store.Info, error) {
	found, err := d.dir.ReadDir(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	entries := make([]store.Info, 0, len(found))
	for _, e := range found {
		info := store.Info{Name: d.prefix + e.Name(), Kind: kindOf(e.Type()), Size: -1}
		if d.detail && info.Kind == store.File {
			fi, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // vanished
			} else if err != nil {
				return nil, err
			}
			s := statusOf(fi)
			info.Size, info.Modified, info.ETag = s.size, s.modified, s.etag()
		}
		entries = append(entries, info)
	}
	if len(found) == 0 {
		return entries, io.EOF
	}
	return entries, nil
}
