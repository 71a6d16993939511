package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sync/errgroup"
)

// singleDeletes is how many deletes run at a time where there is no bulk delete.
const singleDeletes = 16

// Delete deletes objects by one DeleteObjects request, and by single requests
// those whose keys XML can't hold, or all where the server has no bulk delete.
// S3 doesn't tell whether an object was there.
func (s *Store) Delete(ctx context.Context, targets []store.Target) ([]store.Outcome, error) {
	if len(targets) > maxPage {
		return nil, s.fail("delete", "", fmt.Errorf("%d targets in one batch: %w", len(targets), fs.ErrInvalid))
	}
	outcomes := make([]store.Outcome, len(targets))
	bulk := make(map[store.Target]int, len(targets)) // position of each target, its IfMatch left out
	var single []int
	for i, t := range targets {
		outcomes[i].Target = t
		key := store.Target{Name: t.Name, Version: t.Version}
		_, twice := bulk[key]
		switch {
		case t.Name == "":
			outcomes[i].Err = s.fail("delete", "", fs.ErrInvalid)
		case s.bucket.bulk.Load() && plain(s.prefix+t.Name) && !twice:
			bulk[key] = i
		default:
			single = append(single, i)
		}
	}
	if len(bulk) > 0 {
		err := s.bulkDelete(ctx, bulk, outcomes)
		if errors.Is(err, store.ErrUnsupported) {
			s.bucket.bulk.Store(false)
			for _, i := range bulk {
				single = append(single, i)
			}
		} else if err != nil {
			return nil, s.fail("delete", "", err)
		}
	}
	var g errgroup.Group
	g.SetLimit(singleDeletes)
	for _, i := range single {
		g.Go(func() error {
			outcomes[i].Err = s.fail("delete", targets[i].Name, s.deleteOne(ctx, targets[i]))
			return nil
		})
	}
	return outcomes, g.Wait()
}

// plain reports whether XML 1.0 can hold a key and give it back unchanged.
func plain(key string) bool {
	for _, r := range key {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return false
		}
	}
	return true
}

// bulkDelete sends one DeleteObjects. Each key must be answered; one that isn't
// counts as not deleted.
func (s *Store) bulkDelete(ctx context.Context, bulk map[store.Target]int, outcomes []store.Outcome) error {
	in := &s3.DeleteObjectsInput{Bucket: &s.bucket.name, Delete: &types.Delete{}, RequestPayer: s.payer()}
	for key, i := range bulk {
		id := types.ObjectIdentifier{Key: aws.String(s.prefix + key.Name)}
		if key.Version != "" {
			id.VersionId = &key.Version
		}
		if t := outcomes[i].Target; t.IfMatch != "" && s.matches() {
			id.ETag = &t.IfMatch
		}
		in.Delete.Objects = append(in.Delete.Objects, id)
	}
	var opts []func(*s3.Options)
	if s.bucket.opt.ContentMD5 {
		opts = append(opts, contentMD5)
	}
	out, err := s.bucket.DeleteObjects(ctx, in, opts...)
	if err != nil {
		return bulkError(err)
	}
	set := func(key, version *string, err error) bool {
		name := aws.ToString(key)
		if len(name) < len(s.prefix) {
			return false
		}
		t := store.Target{Name: name[len(s.prefix):], Version: aws.ToString(version)}
		if _, ok := bulk[t]; !ok {
			t.Version = "" // some servers name the version that they made or found
		}
		i, ok := bulk[t]
		if ok {
			outcomes[i].Err = err
			delete(bulk, t)
		}
		return ok
	}
	for _, d := range out.Deleted {
		set(d.Key, d.VersionId, nil)
	}
	for _, e := range out.Errors {
		err := s.fail("delete", aws.ToString(e.Key), keyError(e))
		if set(e.Key, e.VersionId, err) || aws.ToString(e.VersionId) != "" {
			continue
		}
		// Some servers don't say which version they refused: each that they didn't delete.
		for t, i := range bulk {
			if s.prefix+t.Name == aws.ToString(e.Key) {
				outcomes[i].Err = err
				delete(bulk, t)
			}
		}
	}
	for t, i := range bulk {
		outcomes[i].Err = s.fail("delete", t.Name, fmt.Errorf("no answer for the key: %w", store.ErrTruncated))
	}
	return nil
}

// bulkError classifies the refusal of a whole DeleteObjects. A server that
// doesn't understand it is asked for one object at a time instead.
func bulkError(err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case ok && api.ErrorCode() == "MalformedXML":
		return fmt.Errorf("%w: %w", store.ErrUnsupported, err)
	case ok && strings.Contains(api.ErrorMessage(), "Content-MD5"):
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "This server wants an older checksum: set LAKESWEEP_S3_CONTENT_MD5=true."}
	}
	return classify(err)
}

// keyError is the error of one key in a bulk delete, classified as if it were
// the answer to a request.
func keyError(e types.Error) error {
	api := &smithy.GenericAPIError{Code: aws.ToString(e.Code), Message: aws.ToString(e.Message)}
	return byCode(api.Code, 0, api)
}

// deleteOne deletes one object by a request of its own.
func (s *Store) deleteOne(ctx context.Context, t store.Target) error {
	key, err := s.key(t.Name)
	if err != nil {
		return err
	}
	in := &s3.DeleteObjectInput{Bucket: &s.bucket.name, Key: key, RequestPayer: s.payer()}
	if t.Version != "" {
		in.VersionId = &t.Version
	}
	if t.IfMatch != "" {
		if !s.bucket.aws {
			if err := s.unchanged(ctx, t.Name, t.IfMatch); err != nil {
				return err
			}
		}
		in.IfMatch = &t.IfMatch
	}
	_, err = s.bucket.DeleteObject(ctx, in)
	return err
}

// DeleteDir removes the placeholder "name/" if nothing else is below it.
func (s *Store) DeleteDir(ctx context.Context, name string) error {
	return s.fail("remove directory", name, s.deleteDir(ctx, name))
}

func (s *Store) deleteDir(ctx context.Context, name string) error {
	if name == "" {
		return fs.ErrInvalid
	}
	page, err := s.list(ctx, store.PageRequest{Prefix: name + "/", Limit: 2})
	if err != nil {
		return err
	}
	for _, e := range page.Entries {
		if e.Listed() != name+"/" {
			return fs.ErrExist
		}
	}
	if page.Next != "" {
		return fs.ErrExist
	}
	if len(page.Entries) == 0 {
		return fs.ErrNotExist
	}
	return s.deleteOne(ctx, store.Target{Name: name + "/"})
}
