package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Trasher is what a store adds to Deleter that has a trash of its own. As a
// Deleter, it belongs to package reap.
type Trasher interface {
	// Trash moves a file into the trash, from where the file system's own tools
	// bring it back or expunge it.
	Trash(ctx context.Context, name string) error
}

// TrashOf returns the trash of the store beneath s's wrappers. Its calls are
// repeated as s repeats its own.
//
// Errors: ErrUnsupported if the store has none.
func TrashOf(s Store) (Trasher, error) {
	var r *retry
	for {
		if found, ok := s.(*retry); ok {
			r = found
		}
		w, ok := s.(interface{ Unwrap() Store })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	t, ok := s.(Trasher)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s has no trash: %w", s.Traits().Name, ErrUnsupported)
	case r == nil:
		return t, nil
	}
	return retriedTrash{t, r}, nil
}

type retriedTrash struct {
	t Trasher
	r *retry
}

func (t retriedTrash) Trash(ctx context.Context, name string) error {
	return t.r.do(ctx, func(attempt int) error {
		err := t.t.Trash(ctx, name)
		if attempt > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil // its first attempt had reached the store
		}
		return err
	})
}
