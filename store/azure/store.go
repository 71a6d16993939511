// Package azure is the store of Azure Blob Storage and of Data Lake Storage
// Gen2, both by the blob endpoint, over azblob: the SDK signs and finds
// credentials; listings are decoded and calls repeated by us.
//
//  1. Where a listing can't start in the middle, or the account has real
//     directories, there are no flat listings: directories are listed one by one.
//  2. A directory is never deleted as a blob, and only when it is empty.
//  3. A batch of deletes is answered blob by blob.
//  4. Names are UTF-8. Other bytes name nothing.
package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Limits of the service.
// Source: Azure Blob Storage REST API, "List Blobs" and "Blob Batch".
const (
	maxPage  = 5000
	maxBatch = 256
)

// Store is a container or a folder in one. Safe for concurrent use.
type Store struct {
	*client
	place  lake.Root
	prefix string // "" or ends with '/'
	tree   bool   // a hierarchical account
	starts bool   // a flat one whose listings can start in the middle
}

var _ store.Store = (*Store)(nil)

// Traits describes the account. Writers of Delta tables create commits by
// put-if-absent, or by a rename that doesn't overwrite.
func (s *Store) Traits() store.Traits {
	return store.Traits{Name: "azure", StartAfter: s.starts, Flat: s.starts, Directories: s.tree, PutIfAbsent: true, IfMatch: true,
		Versions: !s.tree, DeleteBatch: maxBatch, PageSize: maxPage, ListRate: 20000, ClockGrain: time.Second}
}

func (s *Store) fail(op, name string, err error) error {
	return store.Fail(op, s.place, name, classify(err))
}

// blob returns the client of a blob.
func (s *Store) blob(name string) (*blob.Client, error) {
	switch {
	case name == "":
		return nil, fs.ErrInvalid
	case !utf8.ValidString(name):
		return nil, fmt.Errorf("the name isn't UTF-8: %w", fs.ErrNotExist)
	}
	return s.container.NewBlobClient(s.prefix + name), nil
}

// Stat describes a blob, or a directory of a hierarchical account.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := s.stat(ctx, name)
	return info, s.fail("stat", name, err)
}

func (s *Store) stat(ctx context.Context, name string) (store.Info, error) {
	b, err := s.blob(name)
	if err != nil {
		return store.Info{}, err
	}
	p, err := b.GetProperties(ctx, nil)
	if err != nil {
		return store.Info{}, err
	}
	info := store.Info{Name: name, Size: -1, ETag: quoted(string(value(p.ETag))), Modified: younger(value(p.CreationTime), value(p.LastModified)).UTC()}
	if p.ContentLength != nil {
		info.Size = *p.ContentLength
	}
	for key, v := range p.Metadata {
		switch {
		case !strings.EqualFold(key, "hdi_isfolder") || !strings.EqualFold(value(v), "true"):
		case s.tree:
			info.Kind, info.Size = store.Dir, -1
		default:
			info.Kind = store.Marker
		}
	}
	if dir, ok := strings.CutSuffix(name, "/"); ok && info.Kind == store.File {
		info.Name, info.Kind = dir, store.Marker
	}
	return info, nil
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Open reads a part of a blob. The reader tells the blob's ETag, so that
// store.Retry can go on with a broken read.
func (s *Store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.open(ctx, name, offset, length)
	if err != nil {
		return nil, s.fail("read", name, err)
	}
	return r, nil
}

func (s *Store) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	b, err := s.blob(name)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fs.ErrInvalid
	}
	if length == 0 { // no range says so
		info, err := s.stat(ctx, name)
		return body{http.NoBody, info.ETag}, err
	}
	out, err := b.DownloadStream(ctx, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: offset, Count: max(length, 0)}})
	if re, ok := errors.AsType[*azcore.ResponseError](err); ok && re.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return body{http.NoBody, ""}, nil // it ends before offset
	}
	if err != nil {
		return nil, err
	}
	if offset > 0 && !strings.HasPrefix(value(out.ContentRange), fmt.Sprintf("bytes %d-", offset)) {
		return nil, errors.Join(fmt.Errorf("asked for bytes from %d, got %q: %w", offset, value(out.ContentRange), store.ErrTruncated), out.Body.Close())
	}
	return body{out.Body, quoted(string(value(out.ETag)))}, nil
}

// body is the body of an answer; net/http checks it to be as long as announced.
type body struct {
	io.ReadCloser
	etag string
}

func (b body) ETag() string { return b.etag }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = classify(err)
	}
	return n, err
}

// Status reads the clock, and what holds deleted blobs back.
func (s *Store) Status(ctx context.Context) (store.Status, error) {
	var status store.Status
	var notes []string
	p, err := s.service.GetProperties(ctx, nil)
	switch answer, ok := errors.AsType[*azcore.ResponseError](err); {
	case err == nil:
		status.Now = value(p.Date).UTC()
		if d := p.DeleteRetentionPolicy; d != nil && value(d.Enabled) {
			status.SoftDelete = time.Duration(value(d.Days)) * 24 * time.Hour
		}
	case ok && answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests:
		status.Now = date(answer.RawResponse)
		notes = append(notes, "whether soft delete holds blobs back isn't known: it takes Microsoft.Storage/storageAccounts/blobServices/read")
	default:
		return store.Status{}, s.fail("ask the state of the account", "", err)
	}
	versions, err := s.page(ctx, ask{prefix: s.prefix, versions: true, limit: 1})
	switch err = classify(err); {
	case err == nil && len(versions.entries) > 0:
		status.Versioned = versions.entries[0].version != ""
	case err == nil:
	case store.Retryable(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return store.Status{}, s.fail("ask the state of the container", "", err)
	default:
		notes = append(notes, "whether old versions are kept isn't known")
	}
	status.Note = strings.Join(notes, "; ")
	return status, nil
}

// date returns the server's clock, zero if the answer doesn't tell it.
func date(resp *http.Response) time.Time {
	if resp == nil {
		return time.Time{}
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return now.UTC()
}
