package azure

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/store"
)

// probe finds out what the traits depend on, once for each container.
func (s *Store) probe(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hierarchical == nil {
		on, err := s.askHierarchical(ctx)
		if err != nil {
			return err
		}
		s.hierarchical = &on
	}
	if s.startFrom == nil && !*s.hierarchical {
		on, known, err := s.tryStartFrom(ctx)
		if err != nil {
			return err
		}
		if !known {
			s.starts = on
			return nil // another place of the container may tell
		}
		s.startFrom = &on
	}
	s.tree = *s.hierarchical
	s.starts = !s.tree && *s.startFrom
	return nil
}

// askHierarchical asks the account whether it has directories. Where it may not
// be asked, the scheme decides: abfs is the driver of hierarchical accounts. A
// wrong guess leaves empty directories standing, no more.
func (s *Store) askHierarchical(ctx context.Context) (bool, error) {
	info, err := s.container.GetAccountInfo(ctx, nil)
	if err == nil && info.IsHierarchicalNamespaceEnabled != nil {
		return *info.IsHierarchicalNamespaceEnabled, nil
	}
	if err = classify(err); err != nil && (store.Retryable(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return false, err
	}
	if denied := errors.Is(err, fs.ErrPermission); err != nil && !denied && !errors.Is(err, store.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return s.place.Scheme == "abfs" || s.place.Scheme == "abfss", nil
}

// tryStartFrom lists from the second blob of the place on, and looks whether
// the first one is left out: services older than 2026-02-06 ignore or refuse
// the parameter. Without two blobs nothing can be known.
func (s *Store) tryStartFrom(ctx context.Context) (works, known bool, err error) {
	first, err := s.page(ctx, ask{prefix: s.prefix, limit: 2})
	if err != nil {
		return false, false, err
	}
	if len(first.entries) < 2 {
		return false, false, nil
	}
	from := first.entries[1].name
	second, err := s.page(ctx, ask{prefix: s.prefix, startFrom: from, limit: 1})
	switch err = classify(err); {
	case err == nil:
		return len(second.entries) == 1 && second.entries[0].name == from, true, nil
	case store.Retryable(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false, false, err
	}
	return false, true, nil
}
