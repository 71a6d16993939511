package sweep

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta"
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
	log     *delta.Listing // of a Delta table that was just detected, for whoever opens it first
}

// resolve turns a table argument into a root. Relative local paths are taken
// from the working directory.
func (e *Engine) resolve(table string) (lake.Root, error) {
	name, err := e.absolute(table)
	if err != nil {
		return lake.Root{}, err
	}
	return lake.ParseRoot(name)
}

// Root is the place of a table as plans and documents name it.
//
// Errors: Invalid.
func (e *Engine) Root(table string) (lake.Root, error) { return e.resolve(table) }

// resolvePlace is resolve for any folder, roots of buckets included.
func (e *Engine) resolvePlace(place string) (lake.Root, error) {
	name, err := e.absolute(place)
	if err != nil {
		return lake.Root{}, err
	}
	return lake.ParsePlace(name)
}

// absolute takes a relative local path from the working directory. A colon makes
// a URI only before the first slash; behind one it belongs to a name.
func (e *Engine) absolute(name string) (string, error) {
	first := strings.IndexAny(name, "/:")
	if name == "" || first >= 0 && name[first] == ':' || filepath.IsAbs(name) {
		return name, nil
	}
	dir, err := e.Getwd()
	return filepath.Join(dir, name), err
}

// open opens the root read-only and reads the clocks.
func (e *Engine) open(ctx context.Context, table string) (*place, error) {
	p, err := e.reach(ctx, table)
	if err != nil {
		return nil, err
	}
	p.now = e.Now()
	return p, p.readClocks(ctx)
}

// openAs is open and tells the format too, at once.
func (e *Engine) openAs(ctx context.Context, table, format string) (p *place, found string, err error) {
	if p, err = e.reach(ctx, table); err != nil {
		return nil, "", err
	}
	p.now = e.Now() // before anything is asked
	err = together(
		func() error { return p.readClocks(ctx) },
		func() (err error) { found, err = detect(ctx, p, format); return err },
	)
	return p, found, err
}

// reach opens the root read-only, which takes no request.
func (e *Engine) reach(ctx context.Context, table string) (*place, error) {
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
	p.names = newOwnNames(root)
	return p, nil
}

// readClocks asks the store for its state, and settles the time of the run: by
// p.now, the system's when it is called, and the store's clock.
func (p *place) readClocks(ctx context.Context) (err error) {
	if p.status, err = p.reader.Status(ctx); err != nil && !errors.Is(err, store.ErrUnsupported) {
		return err
	}
	if !p.status.Now.IsZero() {
		p.skew = p.now.Sub(p.status.Now)
		if p.status.Now.Before(p.now) {
			p.now = p.status.Now
		}
	}
	return nil
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

// tableAbove asks of all folders above root at once.
func (e *Engine) tableAbove(ctx context.Context, root lake.Root) (string, error) {
	type answer struct {
		found bool
		err   error
	}
	var above []lake.Root // the nearest first
	for dir, ok := root.Parent(); ok && !(dir.Path == "" && dir.Class() == "file"); dir, ok = dir.Parent() {
		if above = append(above, dir); dir.Path == "" {
			break
		}
	}
	answers := make([]answer, len(above))
	var wg sync.WaitGroup
	for i, dir := range above {
		wg.Go(func() {
			r, err := e.Stores.OpenReader(ctx, dir)
			if err == nil {
				answers[i].found, err = isTable(ctx, r, "")
			}
			answers[i].err = err
		})
	}
	wg.Wait()
	for i, a := range answers {
		switch {
		case errors.Is(a.err, fs.ErrPermission), errors.Is(a.err, fs.ErrNotExist):
		case a.err != nil:
			return "", a.err
		case a.found:
			return above[i].String(), nil
		}
	}
	return "", nil
}

// isTable reports whether there is a Delta log or a Hudi timeline in a folder
// of r. prefix is its name with a slash, "" for the root.
func isTable(ctx context.Context, r store.Reader, prefix string) (bool, error) {
	var isDelta, isHudi bool
	look := func(mark string, found *bool) func() error {
		return func() error {
			page, err := r.List(ctx, store.PageRequest{Prefix: prefix + mark, Dirs: true, Limit: 1})
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			*found = err == nil && len(page.Entries) > 0
			return err
		}
	}
	err := together(look("_delta_log/", &isDelta), look(".hoodie/", &isHudi))
	if isDelta || isHudi {
		return true, nil
	}
	return false, err
}
