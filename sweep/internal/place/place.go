package place

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/together"
	"github.com/lakesweep/lakesweep/table/delta"
)

// Place is an opened table root.
type Place struct {
	Given   string // as the command line named it
	Root    lake.Root
	Aliases []lake.Root // other names of Root, such as the target of a symlink
	Names   *Names      // finds own files under yet other names
	Reader  store.Reader
	Now     time.Time     // the earlier of our clock and the store's
	Skew    time.Duration // our clock minus the store's
	Status  store.Status

	log *delta.Listing // of a Delta table that was just detected, for whoever opens it first
}

// Open opens the root read-only and reads the clocks.
//
// Errors: Invalid, NotTable; those of the store.
func (f Finder) Open(ctx context.Context, table string) (*Place, error) {
	p, err := f.reach(ctx, table)
	if err != nil {
		return nil, err
	}
	p.Now = f.Now()
	return p, p.readClocks(ctx)
}

// OpenAs is Open and tells the format too, as Detect does, at once.
func (f Finder) OpenAs(ctx context.Context, table, format string) (p *Place, found string, err error) {
	if p, err = f.reach(ctx, table); err != nil {
		return nil, "", err
	}
	p.Now = f.Now() // before anything is asked
	err = together.Do(
		func() error { return p.readClocks(ctx) },
		func() (err error) { found, err = p.Detect(ctx, format); return err },
	)
	return p, found, err
}

// reach opens the root read-only, which takes no request.
func (f Finder) reach(ctx context.Context, table string) (*Place, error) {
	root, err := f.Root(table)
	if err != nil {
		return nil, err
	}
	p := &Place{Given: table, Root: root}
	if root.Class() == "file" {
		// Log entries may name the table by the path that a symlink leads to, or by the link.
		if real, err := filepath.EvalSymlinks(root.String()); err == nil && real != root.String() {
			alias, err := lake.ParseRoot(filepath.ToSlash(real))
			if err != nil {
				return nil, err
			}
			p.Aliases = append(p.Aliases, alias)
		}
	}
	if p.Reader, err = f.Stores.OpenReader(ctx, root); errors.Is(err, fs.ErrNotExist) {
		return nil, p.notTable("there is no such folder")
	} else if err != nil {
		return nil, err
	}
	p.Names = newNames(root)
	return p, nil
}

// readClocks asks the store for its state, and settles the time of the run: by
// p.Now, the system's when it is called, and the store's clock.
func (p *Place) readClocks(ctx context.Context) (err error) {
	if p.Status, err = p.Reader.Status(ctx); err != nil && !errors.Is(err, store.ErrUnsupported) {
		return err
	}
	if !p.Status.Now.IsZero() {
		p.Skew = p.Now.Sub(p.Status.Now)
		if p.Status.Now.Before(p.Now) {
			p.Now = p.Status.Now
		}
	}
	return nil
}
