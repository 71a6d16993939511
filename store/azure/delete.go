package azure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sync/errgroup"
)

// singleDeletes is how many deletes run at a time where there are no batches.
const singleDeletes = 16

// Delete deletes blobs by one batch, or by single requests where the account
// refuses batches.
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
		if !noBatches(err) {
			return nil, s.fail("delete", "", err)
		}
		s.batch.Store(false)
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

// noBatches reports whether a batch as a whole wasn't understood.
func noBatches(err error) bool {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && answer.StatusCode == http.StatusBadRequest || errors.Is(classify(err), store.ErrUnsupported)
}

// options returns a delete's conditions.
func options(t store.Target) *blob.DeleteOptions {
	if t.IfMatch == "" {
		return nil
	}
	return &blob.DeleteOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: matching(t.IfMatch)}}
}

// deleteBatch sends one batch and sets the outcomes. An error means that the
// batch as a whole failed; blobs may be gone all the same.
// Source: Azure Blob Storage REST API, "Blob Batch".
func (s *Store) deleteBatch(ctx context.Context, outcomes []store.Outcome) error {
	batch, err := s.container.NewBatchBuilder()
	if err != nil {
		return err
	}
	var sent []int // the outcome of each part
	for i := range outcomes {
		t := outcomes[i].Target
		switch {
		case t.Name == "":
			outcomes[i].Err = s.fail("delete", "", fs.ErrInvalid)
			continue
		case !utf8.ValidString(t.Name):
			outcomes[i].Err = s.fail("delete", t.Name, fs.ErrNotExist)
			continue
		}
		o := &container.BatchDeleteOptions{VersionID: optional(t.Version)}
		if d := options(t); d != nil {
			o.DeleteOptions = *d
		}
		if err := batch.Delete(s.prefix+t.Name, o); err != nil {
			return err
		}
		sent = append(sent, i)
	}
	if len(sent) == 0 {
		return nil
	}
	answer, err := s.container.SubmitBatch(ctx, batch, nil)
	if err != nil {
		return err
	}
	waiting := make(map[int]bool, len(sent))
	for _, i := range sent {
		waiting[i] = true
	}
	for _, r := range answer.Responses {
		if r == nil || r.ContentID == nil || *r.ContentID < 0 || *r.ContentID >= len(sent) || !waiting[sent[*r.ContentID]] {
			continue
		}
		i := sent[*r.ContentID]
		delete(waiting, i)
		outcomes[i].Err = s.fail("delete", outcomes[i].Target.Name, r.Error)
	}
	for i := range waiting {
		outcomes[i].Err = s.fail("delete", outcomes[i].Target.Name, fmt.Errorf("no answer for the blob: %w", store.ErrTruncated))
	}
	return nil
}

// deleteOne deletes one blob by a request of its own.
func (s *Store) deleteOne(ctx context.Context, t store.Target) error {
	b, err := s.blob(t.Name)
	if err != nil {
		return err
	}
	if t.Version != "" {
		if b, err = b.WithVersionID(t.Version); err != nil {
			return err
		}
	}
	_, err = b.Delete(ctx, options(t))
	return err
}

// DeleteDir removes an empty directory, or on a flat account the placeholders
// of one. The service itself refuses to remove a directory that isn't empty.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.fail("remove directory", name, s.deleteDir(ctx, name))
}

func (s *Store) deleteDir(ctx context.Context, name string) error {
	if name == "" || !utf8.ValidString(name) {
		return fs.ErrInvalid
	}
	marker := ""
	for a := (ask{prefix: s.prefix + name + "/", limit: 2}); ; {
		p, err := s.page(ctx, a)
		if err != nil {
			return err
		}
		for _, e := range p.entries {
			if e.name != a.prefix {
				return fs.ErrExist
			}
			marker = name + "/"
		}
		if p.next == "" {
			break
		}
		a.marker = p.next
	}
	info, err := s.stat(ctx, name)
	switch {
	case err != nil && (marker == "" || !errors.Is(classify(err), fs.ErrNotExist)):
		return err
	case err == nil && info.Kind != store.File:
		if err := s.deleteOne(ctx, store.Target{Name: name, IfMatch: info.ETag}); err != nil {
			return err
		}
	case err == nil && marker == "":
		return fmt.Errorf("%q is no directory: %w", name, fs.ErrInvalid)
	}
	if marker == "" {
		return nil
	}
	return s.deleteOne(ctx, store.Target{Name: marker})
}
