package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/lakesweep/lakesweep/store"
)

// PutIfAbsent creates an object on the condition that there is none.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return s.fail("create", name, s.putIfAbsent(ctx, name, data))
}

func (s *Store) putIfAbsent(ctx context.Context, name string, data []byte) error {
	if !s.bucket.aws {
		if err := s.absent(ctx, name); err != nil {
			return err
		}
	}
	_, err := s.put(ctx, name, data, nil, aws.String("*"))
	if status(err) == http.StatusPreconditionFailed {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

// absent fails with fs.ErrExist if there is an object.
func (s *Store) absent(ctx context.Context, name string) error {
	_, err := s.stat(ctx, name)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(classify(err), fs.ErrNotExist):
		return nil
	}
	return err
}

// Replace writes an object, with ifMatch only over the one with that ETag.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	etag, err := s.replace(ctx, name, data, ifMatch)
	return etag, s.fail("replace", name, err)
}

func (s *Store) replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	var condition *string
	if ifMatch != "" {
		condition = &ifMatch
		if !s.bucket.aws {
			if err := s.unchanged(ctx, name, ifMatch); err != nil {
				return "", changedIfGone(err)
			}
		}
	}
	etag, err := s.put(ctx, name, data, condition, nil)
	if ifMatch != "" {
		err = changedIfGone(err)
	}
	return etag, err
}

// changedIfGone turns "no such object" into what it is for a condition.
func changedIfGone(err error) error {
	if errors.Is(classify(err), fs.ErrNotExist) {
		return fmt.Errorf("%w: it is gone", store.ErrChanged)
	}
	return err
}

// unchanged fails with ErrChanged unless the object's ETag is etag.
func (s *Store) unchanged(ctx context.Context, name, etag string) error {
	info, err := s.stat(ctx, name)
	if err == nil && info.ETag != etag {
		err = store.ErrChanged
	}
	return err
}

func (s *Store) put(ctx context.Context, name string, data []byte, ifMatch, ifNoneMatch *string) (string, error) {
	key, err := s.key(name)
	if err != nil {
		return "", err
	}
	o, k := s.bucket.opt, s.bucket.key
	in := &s3.PutObjectInput{Bucket: &s.bucket.name, Key: key, Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
		IfMatch: ifMatch, IfNoneMatch: ifNoneMatch, RequestPayer: s.payer(), ServerSideEncryption: types.ServerSideEncryption(o.SSE),
		SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5}
	if o.KMSKey != "" {
		in.SSEKMSKeyId = &o.KMSKey
	}
	out, err := s.bucket.PutObject(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// Remove removes an object, with ifMatch only the one with that ETag.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.fail("remove", name, s.deleteOne(ctx, store.Target{Name: name, IfMatch: ifMatch}))
}

// Copy copies an object within S3, put-if-absent. The server does the copying.
func (s *Store) Copy(ctx context.Context, name string, to store.Store, toName string) error {
	dest, ok := store.Unwrap(to).(*Store)
	if !ok {
		return s.fail("copy", name, store.ErrUnsupported)
	}
	return s.fail("copy", name, s.copy(ctx, name, dest, toName))
}

func (s *Store) copy(ctx context.Context, name string, dest *Store, toName string) error {
	from, err := s.key(name)
	if err != nil {
		return err
	}
	key, err := dest.key(toName)
	if err != nil {
		return err
	}
	info, err := s.stat(ctx, name)
	if err != nil {
		return err
	}
	if err := dest.absent(ctx, toName); err != nil {
		return err
	}
	if info.Size > maxCopy {
		return dest.copyInParts(ctx, s, *from, info, *key)
	}
	o, k := dest.bucket.opt, s.bucket.key
	in := &s3.CopyObjectInput{Bucket: &dest.bucket.name, Key: key, CopySource: source(s.bucket.name, *from), CopySourceIfMatch: &info.ETag,
		IfNoneMatch: aws.String("*"), RequestPayer: dest.payer(), ServerSideEncryption: types.ServerSideEncryption(o.SSE),
		CopySourceSSECustomerAlgorithm: k.algorithm, CopySourceSSECustomerKey: k.key, CopySourceSSECustomerKeyMD5: k.md5,
		SSECustomerAlgorithm: dest.bucket.key.algorithm, SSECustomerKey: dest.bucket.key.key, SSECustomerKeyMD5: dest.bucket.key.md5}
	if !dest.bucket.aws {
		in.IfNoneMatch = nil // not every server knows it here; the look above has to do
	}
	if o.KMSKey != "" {
		in.SSEKMSKeyId = &o.KMSKey
	}
	_, err = dest.bucket.CopyObject(ctx, in)
	if status(err) == http.StatusPreconditionFailed {
		if existErr := dest.absent(ctx, toName); existErr != nil {
			return existErr
		}
		return fmt.Errorf("%w: %w", store.ErrChanged, err)
	}
	return err
}

// source spells the object to copy as the header wants it: URL-encoded, slashes kept.
func source(bucket, key string) *string {
	escaped := strings.ReplaceAll(url.PathEscape(key), "%2F", "/")
	s := bucket + "/" + strings.ReplaceAll(escaped, "+", "%2B")
	return &s
}

// status returns the status of the answer that err is, 0 if it is none.
func status(err error) int {
	if re, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && re.Response != nil && re.Response.Response != nil {
		return re.HTTPStatusCode()
	}
	return 0
}
