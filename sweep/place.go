package sweep

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// place is an opened table root, before its format is known.
type place struct {
	given   string
	root    lake.Root
	aliases []lake.Root // other names of root, such as the target of a symlink
	names   *ownNames   // finds own files under yet other names
	reader  store.Reader
	now     time.Time     // the earlier of our clock and the store's
	skew    time.Duration // our clock minus the store's
	status  store.Status
}

// resolve turns a table argument into a root. Relative local paths are taken
// from the working directory.
func (e *Engine) resolve(table string) (lake.Root, error) {
	if !strings.Contains(table, ":") && table != "" && !filepath.IsAbs(table) {
		dir, err := e.Getwd()
		if err != nil {
			return lake.Root{}, err
		}
		table = filepath.Join(dir, table)
	}
	return lake.ParseRoot(table)
}

// open opens the root read-only and reads the clocks.
func (e *Engine) open(ctx context.Context, table string) (*place, error) {
	root, err := e.resolve(table)
	if err != nil {
		return nil, err
	}
	p := &place{given: table, root: root}
	if root.Class() == "file" {
		// Log entries may name the table by the path that a symlink leads to, or by the link.
		if real, err := filepath.EvalSymlinks(root.String()); err == nil && real != root.String() {
			alias, err := lake.ParseRoot(filepath.ToSlash(real))
			if err != nil {
				return nil, err
			}
			p.aliases = append(p.aliases, alias)
		}
	}
	if p.reader, err = e.Stores.OpenReader(ctx, root); errors.Is(err, fs.ErrNotExist) {
		return nil, notTable(p, "there is no such folder")
	} else if err != nil {
		return nil, err
	}
	p.names, p.now = newOwnNames(root), e.Now()
	if p.status, err = p.reader.Status(ctx); err != nil && !errors.Is(err, store.ErrUnsupported) {
		return nil, err
	}
	if !p.status.Now.IsZero() {
		p.skew = p.now.Sub(p.status.Now)
		if p.status.Now.Before(p.now) {
			p.now = p.status.Now
		}
	}
	return p, nil
}

// enclosing returns the nearest folder above root, by any of its names, that is
// a table of its own, "" if there is none. Folders that may not be read are taken for none: only
// their owner could have put a table there, and the log we open is the nearer.
func (e *Engine) enclosing(ctx context.Context, root lake.Root, aliases ...lake.Root) (string, error) {
	for _, at := range append([]lake.Root{root}, aliases...) {
		if found, err := e.tableAbove(ctx, at); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

func (e *Engine) tableAbove(ctx context.Context, root lake.Root) (string, error) {
	for dir, ok := root.Parent(); ok && !(dir.Path == "" && dir.Class() == "file"); dir, ok = dir.Parent() {
		r, err := e.Stores.OpenReader(ctx, dir)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		found, err := isTable(ctx, r)
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return "", err
		}
		if found {
			return dir.String(), nil
		}
		if dir.Path == "" {
			break
		}
	}
	return "", nil
}

// isTable reports whether there is a Delta log or a Hudi timeline at r's root.
func isTable(ctx context.Context, r store.Reader) (bool, error) {
	for _, mark := range []string{"_delta_log/", ".hoodie/"} {
		page, err := r.List(ctx, store.PageRequest{Prefix: mark, Dirs: true, Limit: 1})
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, err
		case len(page.Entries) > 0:
			return true, nil
		}
	}
	return false, nil
}
