package place

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// insides finds tables inside the table where no listing shows their marks: in
// LITE, and with a list of some objects only. Safe for concurrent use.
//
// Shape: about three requests a folder, asked once.
type insides struct {
	r store.Reader

	mu    sync.Mutex
	known map[lake.Key]func() (bool, error)
}

// Insides returns a function that finds the outermost folder, dir or above it
// and below the root, that is a table of its own; ok is false if none is. It
// remembers what it asked. Safe for concurrent use.
func (p *Place) Insides() func(ctx context.Context, dir lake.Key) (root lake.Key, ok bool, err error) {
	s := &insides{r: p.Reader, known: make(map[lake.Key]func() (bool, error))}
	return s.of
}

func (s *insides) of(ctx context.Context, dir lake.Key) (root lake.Key, ok bool, err error) {
	if dir == "" {
		return "", false, nil
	}
	for _, end := range dir.Components {
		at := dir[:end]
		if is, err := s.once(ctx, at)(); is || err != nil {
			return at, is, err
		}
	}
	return "", false, nil
}

func (s *insides) once(ctx context.Context, dir lake.Key) func() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ask, ok := s.known[dir]
	if !ok {
		if len(s.known) >= mostFolders {
			clear(s.known)
		}
		ask = sync.OnceValues(func() (bool, error) { return isTableAt(ctx, s.r, string(dir)+"/") })
		s.known[dir] = ask
	}
	return ask
}

// isTableAt reports whether a folder below the root is the root of a table of
// any format. prefix is its name with a slash.
func isTableAt(ctx context.Context, r store.Reader, prefix string) (bool, error) {
	if r.Traits().Directories {
		// The mark's name is enough, as in a listing, whatever it holds.
		for _, mark := range []string{meta.LogDir, ".hoodie"} {
			if _, err := r.Stat(ctx, prefix+mark); err == nil || !errors.Is(err, fs.ErrNotExist) {
				return err == nil, err
			}
		}
	} else if is, err := isTable(ctx, r, prefix); is || err != nil {
		return is, err
	}
	names, err := childNames(ctx, r, prefix+metadataDir)
	return meta.IcebergMetadata(names), err
}

// Foreign reports whether dir, below the root, is the root of another table, by
// the entries of its listing and what a metadata folder holds.
func (p *Place) Foreign(ctx context.Context, dir string, entries []store.Info) (bool, error) {
	var marks []string
	metadata := false
	for i := range entries {
		name := entries[i].Name[len(dir)+1:]
		if c := name[0]; c == '_' || c == '.' {
			marks = append(marks, name)
		}
		metadata = metadata || name == "metadata" && entries[i].Kind == store.Dir
	}
	if meta.Foreign(marks) {
		return true, nil
	}
	if !metadata {
		return false, nil
	}
	names, err := childNames(ctx, p.Reader, dir+"/metadata/")
	return meta.IcebergMetadata(names), err
}

// childNames lists the names in one directory; none if it is gone.
func childNames(ctx context.Context, r store.Reader, prefix string) (names []string, err error) {
	for e, err := range store.Folder(ctx, r, prefix) {
		if errors.Is(err, fs.ErrNotExist) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(e.Name, prefix))
	}
	return names, nil
}
