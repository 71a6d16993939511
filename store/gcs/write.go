package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/store"
	"google.golang.org/api/googleapi"
	raw "google.golang.org/api/storage/v1"
)

// PutIfAbsent creates an object on the condition that there is no generation of it.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	none := int64(0)
	_, err := s.put(ctx, name, data, &none)
	return s.fail("create", name, existing(err))
}

// existing turns a failed "generation 0" into fs.ErrExist.
func existing(err error) error {
	if err = classify(err); errors.Is(err, store.ErrChanged) {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

// Replace writes an object, with ifMatch only over that generation.
func (s *Store) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	var generation *int64
	if ifMatch != "" {
		n, err := strconv.ParseInt(ifMatch, 10, 64)
		if err != nil || n == 0 {
			return "", s.fail("replace", name, store.ErrChanged)
		}
		generation = &n
	}
	etag, err := s.put(ctx, name, data, generation)
	if ifMatch != "" && errors.Is(classify(err), fs.ErrNotExist) {
		err = fmt.Errorf("%w: it is gone", store.ErrChanged)
	}
	return etag, s.fail("replace", name, err)
}

func (s *Store) put(ctx context.Context, name string, data []byte, generation *int64) (string, error) {
	if name == "" || !utf8.ValidString(name) {
		return "", fs.ErrInvalid
	}
	call := s.api.Objects.Insert(s.bucket, &raw.Object{Name: s.prefix + name, ContentType: "application/octet-stream"}).
		Media(bytes.NewReader(data), googleapi.ContentType("application/octet-stream"), googleapi.ChunkSize(0)).Fields("generation").Context(ctx)
	if generation != nil {
		call.IfGenerationMatch(*generation)
	}
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	if s.opt.KMSKey != "" {
		call.KmsKeyName(s.opt.KMSKey)
	}
	o, err := call.Do()
	if err != nil {
		return "", err
	}
	if o.Generation == 0 {
		return "", fmt.Errorf("no generation in the answer: %w", store.ErrTruncated)
	}
	return strconv.FormatInt(o.Generation, 10), nil
}

// Remove removes an object, with ifMatch only that generation.
func (s *Store) Remove(ctx context.Context, name string, ifMatch string) error {
	return s.fail("remove", name, s.deleteOne(ctx, store.Target{Name: name, IfMatch: ifMatch}))
}

// Copy copies an object within Cloud Storage, put-if-absent. The server does
// the copying, a large object in several steps.
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
	if !dest.genuine {
		if _, err := dest.stat(ctx, toName); err == nil {
			return fs.ErrExist
		} else if !errors.Is(classify(err), fs.ErrNotExist) {
			return err
		}
	}
	call := s.api.Objects.Rewrite(s.bucket, from, dest.bucket, key, nil).IfGenerationMatch(0).
		Fields("done", "rewriteToken", "resource(generation)").Context(ctx)
	if s.opt.UserProject != "" {
		call.UserProject(s.opt.UserProject)
	}
	if dest.opt.KMSKey != "" {
		call.DestinationKmsKeyName(dest.opt.KMSKey)
	}
	for {
		answer, err := call.Do()
		switch {
		case err != nil:
			return existing(err)
		case answer.Done:
			return nil
		case answer.RewriteToken == "":
			return fmt.Errorf("no token to go on with: %w", store.ErrTruncated)
		}
		call.RewriteToken(answer.RewriteToken)
	}
}

// DeleteDir removes the placeholder "name/" if nothing else is below it.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.fail("remove directory", name, s.deleteDir(ctx, name))
}

func (s *Store) deleteDir(ctx context.Context, name string) error {
	if name == "" {
		return fs.ErrInvalid
	}
	marker := ""
	for req := (store.PageRequest{Prefix: name + "/", Limit: 2}); ; {
		page, err := s.list(ctx, req)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if e.Listed() != name+"/" {
				return fs.ErrExist
			}
			marker = e.ETag
		}
		if page.Next == "" {
			break
		}
		req.Token = page.Next
	}
	if marker == "" {
		return fs.ErrNotExist
	}
	return s.deleteOne(ctx, store.Target{Name: strings.TrimSuffix(name, "/") + "/", IfMatch: marker})
}
