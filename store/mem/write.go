package mem

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/store"
)

// PutIfAbsent creates an object.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return s.locked(ctx, "create", name, func() error {
		if _, ok := s.objects[name]; ok {
			return fs.ErrExist
		}
		s.put(name, object{data: bytes.Clone(data), size: int64(len(data))})
		return nil
	})
}

// Replace writes an object over what is there.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (etag string, err error) {
	err = s.locked(ctx, "replace", name, func() error {
		if ifMatch != "" && s.objects[name].etag != ifMatch {
			return store.ErrChanged
		}
		etag = s.put(name, object{data: bytes.Clone(data), size: int64(len(data))})
		return nil
	})
	return etag, err
}

// Remove removes an object.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.locked(ctx, "remove", name, func() error { return s.remove(name, ifMatch) })
}

func (s *Store) locked(ctx context.Context, op, name string, do func() error) error {
	err := ctx.Err()
	if err == nil && name == "" {
		err = fs.ErrInvalid
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = do()
	}
	return s.fail(op, name, err)
}

func (s *Store) remove(name, ifMatch string) error {
	o, ok := s.objects[name]
	switch {
	case !ok:
		return fs.ErrNotExist
	case ifMatch != "" && o.etag != ifMatch:
		return store.ErrChanged
	}
	delete(s.objects, name)
	return nil
}

// Delete deletes objects, each on its own.
func (s *Store) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	if len(targets) > s.opt.Traits.DeleteBatch {
		return nil, s.fail("delete", "", fmt.Errorf("%d targets in one batch: %w", len(targets), fs.ErrInvalid))
	}
	if err := ctx.Err(); err != nil {
		return nil, s.fail("delete", "", err)
	}
	outcomes := make([]store.Outcome, len(targets))
	for i, t := range targets {
		if t.Version != "" {
			outcomes[i] = store.Outcome{Target: t, Err: s.fail("delete", t.Name, store.ErrUnsupported)}
			continue
		}
		outcomes[i] = store.Outcome{Target: t, Err: s.locked(ctx, "delete", t.Name, func() error { return s.remove(t.Name, t.IfMatch) })}
	}
	return outcomes, nil
}

// DeleteDir removes the marker of a directory that holds nothing else.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.locked(ctx, "remove directory", name, func() error {
		s.merge()
		i, _ := slices.BinarySearch(s.sorted, name+"/\x00")
		for ; i < len(s.sorted) && strings.HasPrefix(s.sorted[i], name+"/"); i++ {
			if _, ok := s.objects[s.sorted[i]]; ok {
				return fs.ErrExist
			}
		}
		return s.remove(name+"/", "")
	})
}

// Copy copies an object to another store in memory.
func (s *Store) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	dest, ok := store.Unwrap(to).(*Store)
	if !ok {
		return s.fail("copy", name, store.ErrUnsupported)
	}
	o, err := s.get(ctx, "copy", name)
	if err != nil {
		return err
	}
	return dest.locked(ctx, "copy", toName, func() error {
		if _, ok := dest.objects[toName]; ok {
			return fs.ErrExist
		}
		o.modified = dest.opt.Now()
		dest.put(toName, o)
		return nil
	})
}
