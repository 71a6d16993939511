package reap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
)

// Quarantine is where dead objects are moved instead of being deleted. They
// keep their keys below Root; the journal is the index.
type Quarantine struct {
	Root  lake.Root   // of one plan: see QuarantineRoot
	Store store.Store // opened at Root, of the same class as the table's
}

// QuarantineRoot returns the folder of a plan below the prefix that the user
// named: no two plans share one.
//
// Errors: Invalid for a prefix in the table, or that isn't a place.
func QuarantineRoot(prefix lake.Root, planID string, tableRoot lake.Root) (lake.Root, error) {
	root := prefix
	if root.Path != "" {
		root.Path += "/"
	}
	root.Path += planID
	switch {
	case tableRoot.Contains(root):
		return lake.Root{}, quarantineError(prefix, errors.New("it lies in the table itself, whose next run would delete it"))
	case prefix.Class() != tableRoot.Class():
		return lake.Root{}, quarantineError(prefix, fmt.Errorf("objects of %s can't be moved there: it is another kind of store", tableRoot))
	}
	return root, nil
}

func (q *Quarantine) check(table string) error {
	root, err := lake.ParseRoot(table)
	if err != nil {
		return err
	}
	if q.Store == nil || q.Root.Path == "" || root.Contains(q.Root) || q.Root.Contains(root) {
		return quarantineError(q.Root, errors.New("it doesn't lie outside the table"))
	}
	return nil
}

func quarantineError(place lake.Root, err error) error {
	return &lake.Error{Op: "quarantine in " + place.String(), Kind: lake.Invalid, Err: err,
		Hint: "Name a folder outside every table, in the same kind of store, with --quarantine."}
}

// move copies objects to quarantine and returns those whose copy is there: only
// these are deleted from their place. A copy from a run that was killed between
// the two is taken for one if it has the object's size.
func (r *run) move(ctx context.Context, open []*item) []*item {
	var moved []*item
	for _, it := range open {
		name := it.target.Name
		if it.v.URI != "" {
			it.outcome, it.err = filelist.Failed, errors.New("blobs can't be moved to quarantine")
			continue
		}
		err := it.place.Copy(ctx, name, r.o.Quarantine.Store, name)
		if errors.Is(err, fs.ErrExist) {
			err = r.sameSize(ctx, it)
		}
		switch {
		case err == nil:
			moved = append(moved, it)
		case errors.Is(err, fs.ErrNotExist):
			r.absent(ctx, it)
		default:
			it.outcome, it.err = filelist.Failed, err
		}
	}
	return moved
}

// sameSize checks the copy that is in quarantine already.
func (r *run) sameSize(ctx context.Context, it *item) error {
	there, err := r.o.Quarantine.Store.Stat(ctx, it.target.Name)
	if err != nil {
		return fmt.Errorf("look at the copy in quarantine: %w", err)
	}
	if there.Size != it.size {
		return fmt.Errorf("another object of %d bytes lies in quarantine under this name: %w", there.Size, fs.ErrExist)
	}
	return nil
}

// absent settles an object that isn't in its place: gone, unless an earlier run
// was killed after it had moved it.
func (r *run) absent(ctx context.Context, it *item) {
	it.outcome = filelist.Gone
	if r.o.Quarantine == nil || r.done == nil {
		return
	}
	switch _, err := r.o.Quarantine.Store.Stat(ctx, it.target.Name); {
	case err == nil:
		it.outcome = filelist.Quarantined
	case !errors.Is(err, fs.ErrNotExist):
		it.outcome, it.err = filelist.Failed, fmt.Errorf("look for it in quarantine: %w", err)
	}
}
