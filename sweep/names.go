package sweep

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
)

// ownNames finds the table's own files under names that lead to it by symlinks
// or mounts: a writer may have known the table by any of them, and a log keeps
// absolute paths. Safe for concurrent use.
//
// Shape: one stat for each folder that such paths name, the last ones remembered.
type ownNames struct {
	root lake.Root
	info fs.FileInfo // of the root's folder

	mu   sync.Mutex
	dirs map[string]folder
}

// folder is what a folder is to the table.
type folder struct {
	rel    string // below the root, "" for the root itself
	inside bool
}

const mostFolders = 1 << 16

// newOwnNames returns nil where names have no such power: in object stores.
func newOwnNames(root lake.Root) *ownNames {
	if root.Class() != "file" {
		return nil
	}
	info, err := os.Stat(root.String())
	if err != nil {
		return nil // opening the root says so
	}
	return &ownNames{root: root, info: info, dirs: make(map[string]folder)}
}

// inside returns the keys by which the table holds what a log's absolute path
// names; none if it lies elsewhere. A nil ownNames holds nothing.
func (n *ownNames) inside(path string) (keys []lake.Key) {
	if n == nil {
		return nil
	}
	place, err := lake.ParseURI(path, n.root)
	if err != nil || place.Class() != "file" {
		return nil
	}
	_, verbatim, _ := strings.Cut(path, ":")
	if strings.HasPrefix(path, "/") {
		verbatim = path
	}
	for _, name := range []string{place.String(), "/" + strings.TrimLeft(verbatim, "/")} {
		if k, ok := n.key(filepath.Clean(name)); ok {
			keys = append(keys, k)
		}
	}
	return keys
}

func (n *ownNames) key(name string) (lake.Key, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.dirs) > mostFolders {
		clear(n.dirs)
	}
	at := n.find(filepath.Dir(name))
	if !at.inside && isSymlink(name) {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name, at = real, n.find(filepath.Dir(real))
		}
	}
	return lake.Key(join(at.rel, filepath.Base(name))), at.inside
}

// find says what a folder is to the table: the root by any of its names,
// something below it, or a symlink to either.
func (n *ownNames) find(dir string) folder {
	if at, ok := n.dirs[dir]; ok {
		return at
	}
	var at folder
	if info, err := os.Stat(dir); err == nil && os.SameFile(info, n.info) {
		at.inside = true
	} else if parent := filepath.Dir(dir); parent != dir {
		if at = n.find(parent); at.inside {
			at.rel = join(at.rel, filepath.Base(dir))
		} else if isSymlink(dir) {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				at = n.find(real)
			}
		}
	}
	n.dirs[dir] = at
	return at
}

func isSymlink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
