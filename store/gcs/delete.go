package gcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"

	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sync/errgroup"
)

// singleDeletes is how many deletes run at a time where there are no batches.
const singleDeletes = 16

// Delete deletes objects by one batch request, or by single requests where the
// server has no batches. Each object counts as one request of the quota either way.
func (s *Store) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	if len(targets) > maxBatch {
		return nil, s.fail("delete", "", fmt.Errorf("%d targets in one batch: %w", len(targets), fs.ErrInvalid))
	}
	outcomes := make([]store.Outcome, len(targets))
	for i, t := range targets {
		outcomes[i].Target = t
	}
	if len(targets) > 1 && s.batch.Load() {
		err := s.deleteBatch(ctx, outcomes)
		if err == nil {
			return outcomes, nil
		}
		if err = classify(err); !errors.Is(err, store.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) {
			return nil, s.fail("delete", "", err)
		}
		s.batch.Store(false) // there is nothing at the address of batches
	}
	var g errgroup.Group
	g.SetLimit(singleDeletes)
	for i, t := range targets {
		g.Go(func() error {
			outcomes[i].Err = s.fail("delete", t.Name, s.deleteOne(ctx, t))
			return nil
		})
	}
	return outcomes, g.Wait()
}

// conditions returns a delete's parameters.
func (s *Store) conditions(t store.Target) (url.Values, error) {
	v := url.Values{}
	if s.opt.UserProject != "" {
		v.Set("userProject", s.opt.UserProject)
	}
	if t.Version != "" {
		if _, err := strconv.ParseInt(t.Version, 10, 64); err != nil {
			return nil, fmt.Errorf("version %q: %w", t.Version, fs.ErrInvalid)
		}
		v.Set("generation", t.Version)
	}
	if t.IfMatch != "" {
		if n, err := strconv.ParseInt(t.IfMatch, 10, 64); err != nil || n == 0 {
			return nil, fmt.Errorf("generation %q: %w", t.IfMatch, store.ErrChanged)
		}
		v.Set("ifGenerationMatch", t.IfMatch)
	}
	return v, nil
}

// deleteOne deletes one object by a request of its own. A server that isn't
// Google's may ignore the condition: there the object is looked at first.
func (s *Store) deleteOne(ctx context.Context, t store.Target) error {
	key, err := s.key(t.Name)
	if err != nil {
		return err
	}
	if _, err := s.conditions(t); err != nil {
		return err
	}
	if t.IfMatch != "" && !s.genuine {
		if info, err := s.stat(ctx, t.Name); err != nil {
			return err
		} else if info.ETag != t.IfMatch {
			return store.ErrChanged
		}
	}
	call := s.api.Objects.Delete(s.bucket, key).Context(ctx)
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	if t.Version != "" {
		n, _ := strconv.ParseInt(t.Version, 10, 64) // conditions has looked
		call.Generation(n)
	}
	if t.IfMatch != "" {
		n, _ := strconv.ParseInt(t.IfMatch, 10, 64)
		call.IfGenerationMatch(n)
	}
	return call.Do()
}
