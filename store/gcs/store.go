// Package gcs is the store of Google Cloud Storage, over its JSON API: Google's
// libraries find credentials and make the calls; calls are repeated by us.
//
//  1. ETag is the generation: it changes with each write of the bytes and not
//     with edits of metadata.
//  2. A batch of deletes is answered object by object; one that has no answer
//     counts as not deleted.
//  3. Names are UTF-8. Other bytes name nothing.
package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"google.golang.org/api/googleapi"
	raw "google.golang.org/api/storage/v1"
)

// Limits of the service.
// Source: Cloud Storage documentation, "Objects: list" (maxResults) and "Batch requests".
const (
	maxPage  = 1000
	maxBatch = 100
)

// Store is a bucket or a prefix of one. Safe for concurrent use.
type Store struct {
	*client
	bucket string
	place  lake.Root
	prefix string // "" or ends with '/'
}

var _ store.Store = (*Store)(nil)

// Traits describes Cloud Storage. Writers of Delta tables create commits by
// generation 0 there (Delta storage documentation, "Google Cloud Storage").
func (s *Store) Traits() store.Traits {
	return store.Traits{Name: "gcs", StartAfter: true, Flat: true, PutIfAbsent: s.genuine, IfMatch: s.genuine,
		Versions: true, DeleteBatch: maxBatch, PageSize: maxPage, ListRate: 5000, ClockGrain: time.Millisecond}
}

func (s *Store) fail(op, name string, err error) error {
	return store.Fail(op, s.place, name, classify(err))
}

// key returns the object's whole name.
func (s *Store) key(name string) (string, error) {
	switch {
	case name == "":
		return "", fs.ErrInvalid
	case !utf8.ValidString(name):
		return "", fmt.Errorf("the name isn't UTF-8: %w", fs.ErrNotExist)
	}
	return s.prefix + name, nil
}

// Stat describes an object.
func (s *Store) Stat(ctx context.Context, name string) (store.Info, error) {
	info, err := s.stat(ctx, name)
	return info, s.fail("stat", name, err)
}

func (s *Store) stat(ctx context.Context, name string) (store.Info, error) {
	key, err := s.key(name)
	if err != nil {
		return store.Info{}, err
	}
	call := s.api.Objects.Get(s.bucket, key).Fields("name", "size", "updated", "timeCreated", "generation").Context(ctx)
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	o, err := call.Do()
	if err != nil {
		return store.Info{}, err
	}
	info, err := infoOf(o)
	if err != nil {
		return store.Info{}, err
	}
	info.Name = name
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		info.Name, info.Kind = dir, store.Marker
	}
	return info, nil
}

// infoOf describes an object; its name is the whole one. Of two times the
// younger counts: "updated" moves with the metadata, and a replica may be born old.
func infoOf(o *raw.Object) (store.Info, error) {
	created, err := time.Parse(time.RFC3339Nano, o.TimeCreated)
	if err != nil {
		return store.Info{}, fmt.Errorf("time of %q: %w: %w", o.Name, store.ErrTruncated, err)
	}
	updated, err := time.Parse(time.RFC3339Nano, o.Updated)
	if err != nil {
		return store.Info{}, fmt.Errorf("time of %q: %w: %w", o.Name, store.ErrTruncated, err)
	}
	if updated.Before(created) {
		updated = created
	}
	if o.Name == "" || o.Generation == 0 || o.Size > 1<<62 {
		return store.Info{}, fmt.Errorf("an object without name or generation: %w", store.ErrTruncated)
	}
	return store.Info{Name: o.Name, Size: int64(o.Size), Modified: updated.UTC(), ETag: strconv.FormatInt(o.Generation, 10)}, nil
}

// Open reads a part of an object as it is stored. The reader tells the object's
// generation, so that store.Retry can go on with a broken read.
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
		return body{http.NoBody, info.ETag}, err
	}
	query := url.Values{"alt": {"media"}}
	if s.opt.UserProject != "" {
		query.Set("userProject", s.opt.UserProject)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.host+s.objectPath(key)+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "gzip") // or the server unpacks what is stored packed, and ranges mean other bytes
	if length > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	} else if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return body{http.NoBody, ""}, resp.Body.Close() // it ends before offset
	}
	if err := googleapi.CheckResponse(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	if req.Header.Get("Range") != "" && resp.StatusCode != http.StatusPartialContent && resp.ContentLength != 0 {
		return nil, errors.Join(fmt.Errorf("asked for %s, got all: %w", req.Header.Get("Range"), store.ErrTruncated), resp.Body.Close())
	}
	return body{resp.Body, resp.Header.Get("X-Goog-Generation")}, nil
}

// objectPath is the path of an object in a URL.
func (s *Store) objectPath(key string) string {
	return "/storage/v1/b/" + url.PathEscape(s.bucket) + "/o/" + url.PathEscape(key)
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

// Status reads the clock from the answer's Date, and what holds deleted
// objects back.
func (s *Store) Status(ctx context.Context) (store.Status, error) {
	call := s.api.Buckets.Get(s.bucket).Fields("versioning", "softDeletePolicy", "retentionPolicy").Context(ctx)
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	b, err := call.Do()
	if answer, ok := errors.AsType[*googleapi.Error](err); ok && (answer.Code == http.StatusForbidden || answer.Code == http.StatusUnauthorized) {
		return store.Status{Now: date(answer.Header),
			Note: "whether the bucket keeps old versions or soft-deleted objects isn't known: it takes storage.buckets.get"}, nil
	}
	if err != nil {
		return store.Status{}, s.fail("ask the state of the bucket", "", err)
	}
	status := store.Status{Now: date(b.Header), Versioned: b.Versioning != nil && b.Versioning.Enabled}
	if b.SoftDeletePolicy != nil {
		status.SoftDelete = time.Duration(b.SoftDeletePolicy.RetentionDurationSeconds) * time.Second
	}
	if p := b.RetentionPolicy; p != nil && p.RetentionPeriod > 0 {
		status.Note = fmt.Sprintf("the bucket's retention policy forbids to delete objects younger than %s", time.Duration(p.RetentionPeriod)*time.Second)
	}
	return status, nil
}

// date returns the server's clock, zero if the answer doesn't tell it.
func date(h http.Header) time.Time {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return now.UTC()
}
