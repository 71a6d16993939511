package place

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
)

// Enclosing returns the nearest folder above root, by any of its names, that is
// a table of its own, "" if there is none. Folders that may not be read are taken for none: only
// their owner could have put a table there, and the log we open is the nearer.
func (f Finder) Enclosing(ctx context.Context, root lake.Root, aliases ...lake.Root) (string, error) {
	for _, at := range append([]lake.Root{root}, aliases...) {
		if found, err := f.tableAbove(ctx, at); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// tableAbove asks of all folders above root at once.
func (f Finder) tableAbove(ctx context.Context, root lake.Root) (string, error) {
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
			r, err := f.Stores.OpenReader(ctx, dir)
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
	err := together.Do(look("_delta_log/", &isDelta), look(".hoodie/", &isHudi))
	if isDelta || isHudi {
		return true, nil
	}
	return false, err
}
