package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/lakesweep/lakesweep/store"
)

// PutIfAbsent creates a blob on the condition that there is none.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	any := azcore.ETagAny
	_, err := s.put(ctx, name, data, &blob.ModifiedAccessConditions{IfNoneMatch: &any})
	return s.fail("create", name, existing(err))
}

// existing turns a failed If-None-Match into fs.ErrExist.
func existing(err error) error {
	if err = classify(err); errors.Is(err, store.ErrChanged) {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

// Replace writes a blob, with ifMatch only over the one with that ETag.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	var conditions *blob.ModifiedAccessConditions
	if ifMatch != "" {
		conditions = matching(ifMatch)
	}
	etag, err := s.put(ctx, name, data, conditions)
	if ifMatch != "" && errors.Is(classify(err), fs.ErrNotExist) {
		err = fmt.Errorf("%w: it is gone", store.ErrChanged)
	}
	return etag, s.fail("replace", name, err)
}

func matching(etag string) *blob.ModifiedAccessConditions {
	tag := azcore.ETag(quoted(etag))
	return &blob.ModifiedAccessConditions{IfMatch: &tag}
}

func (s *Store) put(ctx context.Context, name string, data []byte, conditions *blob.ModifiedAccessConditions) (string, error) {
	if name == "" || !utf8.ValidString(name) {
		return "", fs.ErrInvalid
	}
	out, err := s.container.NewBlockBlobClient(s.prefix+name).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)),
		&blockblob.UploadOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: conditions}})
	if err != nil {
		return "", err
	}
	if value(out.ETag) == "" {
		return "", fmt.Errorf("no ETag in the answer: %w", store.ErrTruncated)
	}
	return quoted(string(*out.ETag)), nil
}

// Remove removes a blob, with ifMatch only the one with that ETag.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.fail("remove", name, s.deleteOne(ctx, store.Target{Name: name, IfMatch: ifMatch}))
}

// copyPoll is how often a copy that takes time is asked for.
const copyPoll = 200 * time.Millisecond

// Copy copies a blob within Azure, put-if-absent. The service does the copying;
// between accounts the source must be readable by its URL (a signature).
func (s *Store) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	dest, ok := store.Unwrap(to).(*Store)
	if !ok {
		return s.fail("copy", name, store.ErrUnsupported)
	}
	return s.fail("copy", name, s.copy(ctx, name, dest, toName))
}

func (s *Store) copy(ctx context.Context, name string, dest *Store, toName string) error {
	info, err := s.stat(ctx, name)
	if err != nil {
		return err
	}
	if info.Kind == store.Dir {
		return fs.ErrInvalid
	}
	from, err := s.blob(name)
	if err != nil {
		return err
	}
	target, err := dest.blob(toName)
	if err != nil {
		return err
	}
	any, tag := azcore.ETagAny, azcore.ETag(info.ETag)
	out, err := target.StartCopyFromURL(ctx, from.URL(), &blob.StartCopyFromURLOptions{
		AccessConditions:               &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &any}},
		SourceModifiedAccessConditions: &blob.SourceModifiedAccessConditions{SourceIfMatch: &tag}})
	if err = classify(err); errors.Is(err, store.ErrChanged) {
		if _, statErr := dest.stat(ctx, toName); statErr == nil {
			return fmt.Errorf("%w: %w", fs.ErrExist, err)
		}
	}
	if err != nil {
		return err
	}
	return finish(ctx, target, value(out.CopyID), value(out.CopyStatus))
}

// finish waits for a copy. One that can't be waited for is given up, so that
// half a blob isn't taken for the whole.
func finish(ctx context.Context, target *blob.Client, id string, status blob.CopyStatusType) error {
	for status == blob.CopyStatusTypePending {
		select {
		case <-ctx.Done():
			_, err := target.AbortCopyFromURL(context.WithoutCancel(ctx), id, nil)
			return errors.Join(ctx.Err(), err)
		case <-time.After(copyPoll):
		}
		p, err := target.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if value(p.CopyID) != id {
			return fmt.Errorf("%w: somebody else wrote there", store.ErrChanged)
		}
		status = value(p.CopyStatus)
	}
	if status != blob.CopyStatusTypeSuccess {
		return fmt.Errorf("the copy ended as %q", status)
	}
	return nil
}
