// Package s3 is the store of Amazon S3 and of the servers that speak its
// protocol, over aws-sdk-go-v2: the SDK signs, addresses and finds credentials;
// listings are decoded and calls repeated by us.
//
//  1. A key is sent and read as bytes. What XML can't hold goes by a request
//     that has the key in its path.
//  2. Every answer is checked to be whole: a page ends with its root element, a
//     bulk delete answers each key.
//  3. Whether an operation depends on a condition is never left to a server that
//     may ignore it: away from AWS the object is looked at first as well.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// maxPage is the most that S3 puts in a page or takes in a bulk delete.
const maxPage = 1000

// Store is a bucket or a prefix of one. Safe for concurrent use.
type Store struct {
	bucket *bucket
	place  lake.Root
	prefix string // "" or ends with '/'
}

var _ store.Store = (*Store)(nil)

// Traits describes S3. PutIfAbsent works, but writers of Delta tables don't
// respect it there (spec: Delta storage configuration, S3 needs a LogStore).
func (s *Store) Traits() store.Traits {
	return store.Traits{Name: "s3", StartAfter: true, Flat: true, IfMatch: s.matches(), ContentTags: true, Versions: true, DeleteBatch: maxPage, PageSize: maxPage, ListRate: 3500, ClockGrain: time.Second}
}

// matches reports whether bulk deletes depend on ETags.
func (s *Store) matches() bool {
	if o := s.bucket.opt.DeleteMatch; o != "" {
		return o == "on"
	}
	return s.bucket.aws
}

func (s *Store) fail(op, name string, err error) error {
	return store.Fail(op, s.place, name, classify(err))
}

// key returns the object's key in the bucket.
func (s *Store) key(name string) (*string, error) {
	if name == "" {
		return nil, fs.ErrInvalid
	}
	key := s.prefix + name
	return &key, nil
}

func (s *Store) payer() types.RequestPayer {
	if s.bucket.opt.RequesterPays {
		return types.RequestPayerRequester
	}
	return ""
}

// Stat describes one object.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := s.stat(ctx, name)
	return info, s.fail("stat", name, err)
}

func (s *Store) stat(ctx context.Context, name string) (store.Info, error) {
	key, err := s.key(name)
	if err != nil {
		return store.Info{}, err
	}
	k := s.bucket.key
	out, err := s.bucket.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket.name, Key: key, RequestPayer: s.payer(),
		SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5})
	if err != nil {
		return store.Info{}, err
	}
	if out.ContentLength == nil || out.LastModified == nil {
		return store.Info{}, fmt.Errorf("no size or no time in the answer: %w", store.ErrTruncated)
	}
	info := store.Info{Name: name, Size: *out.ContentLength, Modified: out.LastModified.UTC(), ETag: aws.ToString(out.ETag)}
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		info.Name, info.Kind = dir, store.Marker
	}
	return info, nil
}

// Open reads a part of an object. The reader tells the object's ETag, so that
// store.Retry can go on with a broken read.
func (s *Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.open(ctx, name, offset, length)
	if err != nil {
		return nil, s.fail("read", name, err)
	}
	return r, nil
}

func (s *Store) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	key, err := s.key(name)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fs.ErrInvalid
	}
	if length == 0 { // no range says so
		info, err := s.stat(ctx, name)
		return &body{ReadCloser: http.NoBody, etag: info.ETag}, err
	}
	k := s.bucket.key
	in := &s3.GetObjectInput{Bucket: &s.bucket.name, Key: key, RequestPayer: s.payer(),
		SSECustomerAlgorithm: k.algorithm, SSECustomerKey: k.key, SSECustomerKeyMD5: k.md5}
	if length > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	} else if offset > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := s.bucket.GetObject(ctx, in)
	if re, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && re.HTTPStatusCode() == http.StatusRequestedRangeNotSatisfiable {
		return &body{ReadCloser: http.NoBody}, nil // it ends before offset
	}
	if err != nil {
		return nil, err
	}
	if in.Range != nil && !strings.HasPrefix(aws.ToString(out.ContentRange), fmt.Sprintf("bytes %d-", offset)) {
		return nil, errors.Join(fmt.Errorf("asked for %s, got %q: %w", *in.Range, aws.ToString(out.ContentRange), store.ErrTruncated), out.Body.Close())
	}
	return &body{ReadCloser: out.Body, etag: aws.ToString(out.ETag), left: aws.ToInt64(out.ContentLength), sized: out.ContentLength != nil}, nil
}

// body is the body of an answer, checked to be as long as announced.
type body struct {
	io.ReadCloser
	etag  string
	left  int64
	sized bool
}

func (b *body) ETag() string { return b.etag }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	switch {
	case err == io.EOF && b.sized && b.left > 0:
		return n, io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return n, classify(err)
	}
	return n, err
}

// Status reads the clock from the answer's Date and asks whether deletes leave
// versions behind.
func (s *Store) Status(ctx context.Context) (store.Status, error) {
	out, err := s.bucket.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.bucket.name})
	var status store.Status
	if err == nil {
		status.Versioned = out.Status != "" // suspended buckets still hold old versions
		status.Now = date(middleware.GetRawResponse(out.ResultMetadata))
	} else {
		re, ok := errors.AsType[*smithyhttp.ResponseError](err)
		if !ok {
			return status, s.fail("ask the state of the bucket", "", err)
		}
		err = classify(err)
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, store.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) {
			return status, s.fail("ask the state of the bucket", "", err)
		}
		status.Now = date(re.Response)
		status.Note = "whether the bucket keeps old versions isn't known: it takes s3:GetBucketVersioning"
	}
	return status, nil
}

// date returns the server's clock, zero if the answer doesn't tell it.
func date(raw any) time.Time {
	resp, ok := raw.(*smithyhttp.Response)
	if !ok || resp == nil || resp.Response == nil {
		return time.Time{}
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return now.UTC()
}
