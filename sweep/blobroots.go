package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// blobPlace is an allowed root, opened where --map says that it is reached.
type blobPlace struct {
	root  lake.Root
	store store.Store
}

// blobPlaces are the allowed roots of a run.
type blobPlaces struct {
	e      *Engine
	places []blobPlace
}

// openBlobs opens the places in which blobs may die.
//
// Errors: Invalid for a root that names no place, or one in the table; Refused
// for a folder that isn't there.
func (e *Engine) openBlobs(ctx context.Context, names *lake.BlobNames, roots []lake.Root) (*blobPlaces, error) {
	b := &blobPlaces{e: e}
	for _, r := range roots {
		at, standing := names.Place(lake.BlobID(r.Join("x")))
		if standing != lake.MayDie {
			return nil, invalid(r.String(), "no blob can die below it: "+standing.String(), "Name a folder outside of the table with --blob-root.")
		}
		root, _ := at.Parent()
		s, err := e.Stores.OpenStore(ctx, root)
		if errors.Is(err, fs.ErrNotExist) {
			// A mount that is missing must not pass for blobs that are gone.
			return nil, &lake.Error{Op: "open blob root", Table: root.String(), Kind: lake.Refused, Code: "blob_root_missing", Err: errors.New("there is no such folder"),
				Hint: "Mount or make the folder, correct --blob-root or --map, or clean without --blobs."}
		}
		if err != nil {
			return nil, err
		}
		b.places = append(b.places, blobPlace{root, s})
	}
	return b, nil
}

// open returns the allowed root that holds a place, and its name there.
func (b *blobPlaces) open(_ context.Context, at lake.Root) (reap.Place, string, error) {
	for _, p := range b.places {
		if p.root.Contains(at) && at.Path != p.root.Path {
			return p.store, strings.TrimPrefix(strings.TrimPrefix(at.Path, p.root.Path), "/"), nil
		}
	}
	return nil, "", fmt.Errorf("%s lies below no blob root", at)
}

// claim makes the roots' other tables known.
//
// Errors: Refused if a table that also doesn't name has claimed one.
func (b *blobPlaces) claim(ctx context.Context, me blobqueue.Claimer, also []lake.Root) error {
	known := func(table string) bool {
		root, err := lake.ParseRoot(table)
		if err != nil {
			return false
		}
		for _, a := range also {
			if a.Same(root) {
				return true
			}
		}
		return false
	}
	for _, p := range b.places {
		if err := blobqueue.Claim(ctx, p.store, p.root, me, known); err != nil {
			return err
		}
	}
	return nil
}

// versioned reports whether deletes leave old versions in one of the roots.
func (b *blobPlaces) versioned(ctx context.Context) (bool, error) {
	for _, p := range b.places {
		status, err := p.store.Status(ctx)
		if err != nil && !errors.Is(err, store.ErrUnsupported) {
			return false, err
		}
		if status.Versioned {
			return true, nil
		}
	}
	return false, nil
}
