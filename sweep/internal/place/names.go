package place

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/memo"
)

// Names finds the table's own files under names that lead to it by symlinks
// or mounts: a writer may have known the table by any of them, and a log keeps
// absolute paths. Safe for concurrent use.
//
// Shape: one stat for each folder that such paths name, the last ones remembered.
type Names struct {
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

// newNames returns nil where names have no such power: in object stores.
func newNames(root lake.Root) *Names {
	if root.Class() != "file" {
		return nil
	}
	info, err := os.Stat(root.String())
	if err != nil {
		return nil // opening the root says so
	}
	return &Names{root: root, info: info, dirs: make(map[string]folder)}
}

// Inside returns the keys by which the table holds what a log's absolute path
// names; none if it lies elsewhere. A nil Names holds nothing.
func (n *Names) Inside(path string) (keys []lake.Key) {
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

func (n *Names) key(name string) (lake.Key, bool) {
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
func (n *Names) find(dir string) folder {
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

// linked returns a function that finds symlinks among the folders below the
// root: it gives the folder that one leads to inside the table, by the names
// that a listing shows. It is nil where there are none.
func (n *Names) linked() func(dir lake.Key) (lake.Key, bool) {
	if n == nil {
		return nil
	}
	byDir := memo.ByDir(func(dir lake.Key) folder {
		real, err := filepath.EvalSymlinks(n.path(dir))
		if err != nil {
			return folder{}
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		at := n.find(real)
		return folder{at.rel, at.inside && at.rel != string(dir)}
	})
	return func(dir lake.Key) (lake.Key, bool) {
		if dir == "" {
			return "", false
		}
		at := byDir(dir)
		return lake.Key(at.rel), at.inside
	}
}

// Target returns the table's own file that the symlink at k leads to; ok is
// false if it leads to none.
func (n *Names) Target(k lake.Key) (file lake.Key, ok bool) {
	if n == nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(n.path(k))
	if err != nil {
		return "", false
	}
	if info, err := os.Stat(real); err != nil || info.IsDir() {
		return "", false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.find(filepath.Dir(real))
	return lake.Key(join(at.rel, filepath.Base(real))), at.inside
}

// path is the system's name of a key.
func (n *Names) path(k lake.Key) string {
	return filepath.Join(n.root.String(), filepath.FromSlash(string(k)))
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
