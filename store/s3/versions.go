package s3

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lakesweep/lakesweep/store"
)

// listVersions returns a page of ListObjectVersions: versions and delete
// markers, each with its version id ("null" for what is older than the
// bucket's versioning).
func (s *Store) listVersions(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if req.After != "" || req.Dirs {
		return store.Page{}, fs.ErrInvalid
	}
	in := &s3.ListObjectVersionsInput{Bucket: &s.bucket.name, EncodingType: types.EncodingTypeUrl, RequestPayer: s.payer()}
	if prefix := s.prefix + req.Prefix; prefix != "" {
		in.Prefix = &prefix
	}
	if req.Token != "" {
		key, version, _ := strings.Cut(req.Token, "\x00")
		in.KeyMarker, in.VersionIdMarker = &key, &version
	}
	if req.Limit > 0 && req.Limit < maxPage {
		in.MaxKeys = aws.Int32(int32(req.Limit))
	}
	out, err := s.versionPage(ctx, in)
	if err != nil {
		return store.Page{}, err
	}
	encoded := out.EncodingType == types.EncodingTypeUrl
	var page store.Page
	for _, v := range out.Versions {
		info := store.Info{Size: aws.ToInt64(v.Size), Modified: aws.ToTime(v.LastModified).UTC(), ETag: aws.ToString(v.ETag)}
		if page.Entries, err = s.appendVersion(page.Entries, req, info, v.Key, v.VersionId, encoded); err != nil {
			return store.Page{}, err
		}
	}
	for _, m := range out.DeleteMarkers {
		info := store.Info{Modified: aws.ToTime(m.LastModified).UTC()}
		if page.Entries, err = s.appendVersion(page.Entries, req, info, m.Key, m.VersionId, encoded); err != nil {
			return store.Page{}, err
		}
	}
	if aws.ToBool(out.IsTruncated) {
		next, err := versionKey(out.NextKeyMarker, encoded)
		if err != nil {
			return store.Page{}, err
		}
		if page.Next = next + "\x00" + aws.ToString(out.NextVersionIdMarker); page.Next == req.Token || next == "" {
			return store.Page{}, fmt.Errorf("a page that doesn't say how to go on: %w", store.ErrTruncated)
		}
	}
	return page, nil
}

// versionPage asks for a page with keys encoded, and once more without where
// the server doesn't say whether they are and that matters: some ignore the
// wish, and some fulfil it without a word.
func (s *Store) versionPage(ctx context.Context, in *s3.ListObjectVersionsInput) (*s3.ListObjectVersionsOutput, error) {
	out, err := s.bucket.ListObjectVersions(ctx, in)
	if err != nil || out.EncodingType == types.EncodingTypeUrl || !ambiguous(out) {
		return out, err
	}
	in.EncodingType = ""
	return s.bucket.ListObjectVersions(ctx, in)
}

// ambiguous tells whether a key of the page would read otherwise if decoded.
func ambiguous(out *s3.ListObjectVersionsOutput) bool {
	odd := func(key *string) bool { return strings.ContainsAny(aws.ToString(key), "%+") }
	return odd(out.NextKeyMarker) ||
		slices.ContainsFunc(out.Versions, func(v types.ObjectVersion) bool { return odd(v.Key) }) ||
		slices.ContainsFunc(out.DeleteMarkers, func(m types.DeleteMarkerEntry) bool { return odd(m.Key) })
}

func (s *Store) appendVersion(entries []store.Info, req store.PageRequest, info store.Info, key, version *string, encoded bool) ([]store.Info, error) {
	name, err := versionKey(key, encoded)
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(name, s.prefix+req.Prefix):
		return nil, fmt.Errorf("the server ignored the prefix %q: it listed %q", s.prefix+req.Prefix, name)
	case aws.ToString(version) == "":
		return nil, fmt.Errorf("no version id of %q: %w", name, store.ErrTruncated)
	}
	info.Name, info.Version = name[len(s.prefix):], *version
	return append(entries, info), nil
}

// versionKey decodes a key of the answer.
func versionKey(key *string, encoded bool) (string, error) {
	if !encoded {
		return aws.ToString(key), nil
	}
	name, err := url.QueryUnescape(aws.ToString(key))
	if err != nil {
		return "", fmt.Errorf("key %q: %w", aws.ToString(key), err)
	}
	return name, nil
}
