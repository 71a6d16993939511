package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// Opener opens places for reading, or for everything.
type Opener interface {
	// OpenReader opens root without any way to write.
	OpenReader(ctx context.Context, root lake.Root) (Reader, error)
	// OpenStore opens root with all its power.
	OpenStore(ctx context.Context, root lake.Root) (Store, error)
}

// OpenFunc opens a place in one class of store. Opening issues no request that
// changes anything.
type OpenFunc func(ctx context.Context, root lake.Root) (Store, error)

// Registry is an Opener made of one OpenFunc for each class of store (see
// lake.Root.Class). Wrap, if not nil, adds wrappers to what was opened.
type Registry struct {
	Classes map[string]OpenFunc
	Wrap    func(lake.Root, Store) Store
}

// OpenReader opens root and hides all but its reading methods.
func (r Registry) OpenReader(ctx context.Context, root lake.Root) (Reader, error) {
	s, err := r.OpenStore(ctx, root)
	if err != nil {
		return nil, err
	}
	return ReadOnly(s), nil
}

// OpenStore opens root in its class's store.
//
// Errors: Invalid for a class that isn't registered, else the store's.
func (r Registry) OpenStore(ctx context.Context, root lake.Root) (Store, error) {
	open := r.Classes[root.Class()]
	if open == nil {
		return nil, &lake.Error{Op: "open store", Table: root.String(), Kind: lake.Invalid,
			Err:  fmt.Errorf("no store for the scheme %q", root.Scheme),
			Hint: "This build knows " + strings.Join(slices.Sorted(maps.Keys(r.Classes)), ", ") + "."}
	}
	s, err := open(ctx, root)
	if err != nil {
		return nil, err
	}
	if r.Wrap != nil {
		s = r.Wrap(root, s)
	}
	return s, nil
}

// Unwrap returns the store beneath all wrappers.
func Unwrap(s Store) Store {
	for {
		w, ok := s.(interface{ Unwrap() Store })
		if !ok {
			return s
		}
		s = w.Unwrap()
	}
}
