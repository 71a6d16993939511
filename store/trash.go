package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sync/errgroup"
)

// Trasher is what a store adds to Deleter that has a trash of its own.
type Trasher interface {
	// Trash moves a file into the trash, from where the file system's own tools
	// bring it back or expunge it.
	Trash(ctx context.Context, name string) error
}

// trashAtOnce is how many files of a batch are moved at a time.
const trashAtOnce = 16

// InTrash returns s with a Delete that moves files into the trash of the store
// beneath its wrappers instead, repeated and paced as s's own deletes are. All
// else is s's; empty directories are removed.
//
// Errors: ErrUnsupported if the store has no trash.
func InTrash(s Store) (Store, error) {
	t := inTrash{Store: s}
	for inner := s; ; {
		switch w := inner.(type) {
		case *retry:
			t.retry = w
		case paced:
			t.pace = w.p.delete
		}
		w, ok := inner.(interface{ Unwrap() Store })
		if !ok {
			if t.trash, ok = inner.(Trasher); !ok {
				return nil, fmt.Errorf("%s has no trash: %w", s.Traits().Name, ErrUnsupported)
			}
			return t, nil
		}
		inner = w.Unwrap()
	}
}

type inTrash struct {
	Store
	trash Trasher
	retry *retry // nil: once
	pace  *pace  // nil: at once
}

func (t inTrash) Unwrap() Store { return t.Store }

// Delete moves the targets' files into the trash. There are no versions there,
// and no conditions.
func (t inTrash) Delete(ctx context.Context, targets []Target) ([]Outcome, error) {
	outcomes := make([]Outcome, len(targets))
	var g errgroup.Group
	g.SetLimit(trashAtOnce)
	for i, target := range targets {
		outcomes[i].Target = target
		g.Go(func() error {
			outcomes[i].Err = ErrUnsupported
			if target.Version == "" && target.IfMatch == "" {
				outcomes[i].Err = t.move(ctx, target.Name)
			}
			return nil
		})
	}
	return outcomes, g.Wait()
}

func (t inTrash) move(ctx context.Context, name string) error {
	once := func(attempt int) error {
		if t.pace != nil {
			if err := t.pace.wait(ctx, 1); err != nil {
				return err
			}
		}
		err := t.trash.Trash(ctx, name)
		if attempt > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil // its first attempt had reached the store
		}
		return err
	}
	if t.retry == nil {
		return once(0)
	}
	return t.retry.do(ctx, once)
}
