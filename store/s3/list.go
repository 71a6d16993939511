package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/lakesweep/lakesweep/store"
)

// List returns one page of ListObjectsV2, or of ListObjectVersions.
//
// Errors: ErrTruncated for an answer that isn't whole.
func (s *Store) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	list := s.list
	if req.Versions {
		list = s.listVersions
	}
	page, err := list(ctx, req)
	if err != nil {
		return store.Page{}, s.fail("list", req.Prefix, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, req store.PageRequest) (store.Page, error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket.name, EncodingType: types.EncodingTypeUrl, RequestPayer: s.payer()}
	if prefix := s.prefix + req.Prefix; prefix != "" {
		in.Prefix = &prefix
	}
	switch {
	case req.After != "" && req.Token != "":
		return store.Page{}, fs.ErrInvalid
	case req.Token != "":
		in.ContinuationToken = &req.Token
	case req.After != "":
		in.StartAfter = aws.String(s.prefix + req.After)
	}
	if req.Dirs {
		in.Delimiter = aws.String("/")
	}
	if req.Limit > 0 && req.Limit < maxPage {
		in.MaxKeys = aws.Int32(int32(req.Limit))
	}
	p, err := s.listPage(ctx, in)
	if err != nil {
		return store.Page{}, err
	}
	return s.relative(p, req)
}

// relative turns keys into names, and brings common prefixes, which the answer
// holds apart, into the order of the objects.
func (s *Store) relative(p page, req store.PageRequest) (store.Page, error) {
	entries := p.entries
	if req.Dirs {
		entries = merged(entries)
	}
	kept := entries[:0:len(entries)]
	for _, e := range entries {
		if !strings.HasPrefix(e.Listed(), s.prefix+req.Prefix) {
			return store.Page{}, fmt.Errorf("the server ignored the prefix %q: it listed %q", s.prefix+req.Prefix, e.Listed())
		}
		if len(e.Name) < len(s.prefix) {
			continue // the marker of the place itself
		}
		e.Name = e.Name[len(s.prefix):]
		if e.Name == "" && e.Kind == store.Marker && s.prefix == "" {
			continue // a key "/" has no name here
		}
		kept = append(kept, e)
	}
	return store.Page{Entries: kept, Next: p.next}, nil
}

// merged merges the objects and the directories of entries, each in the
// server's order.
func merged(entries []store.Info) []store.Info {
	var files, dirs []store.Info
	for _, e := range entries {
		if e.Kind == store.Dir {
			dirs = append(dirs, e)
		} else {
			files = append(files, e)
		}
	}
	if len(dirs) == 0 {
		return files
	}
	all := make([]store.Info, 0, len(entries))
	for len(files) > 0 && len(dirs) > 0 {
		if files[0].Listed() < dirs[0].Listed() {
			all, files = append(all, files[0]), files[1:]
		} else {
			all, dirs = append(all, dirs[0]), dirs[1:]
		}
	}
	return append(append(all, files...), dirs...)
}

// pageDeserializer takes the place of the SDK's decoder of one ListObjectsV2
// call, which takes 70 allocations a key.
type pageDeserializer struct {
	sdk    middleware.DeserializeMiddleware // for answers that are errors
	silent bool                             // the server encodes keys without saying so
	bodies chan struct{}
	page   page
}

func (d *pageDeserializer) option(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) (err error) {
		d.sdk, err = stack.Deserialize.Swap("OperationDeserializer", d)
		return err
	})
}

// ID is the name of what it replaces.
func (d *pageDeserializer) ID() string { return "OperationDeserializer" }

// HandleDeserialize reads the body to its end and decodes it into d.page. The
// result that the SDK's call returns is empty.
func (d *pageDeserializer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
) {
	out, metadata, err = next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return d.sdk.HandleDeserialize(ctx, in, answered{out, metadata, err})
	}
	select {
	case d.bodies <- struct{}{}:
		defer func() { <-d.bodies }()
	case <-ctx.Done():
		return out, metadata, errors.Join(ctx.Err(), resp.Body.Close())
	}
	work := workspaces.Get().(*workspace)
	defer workspaces.Put(work)
	work.buf.Reset()
	_, err = work.buf.ReadFrom(resp.Body)
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return out, metadata, fmt.Errorf("page of a listing: %w: %w", store.ErrTruncated, err)
	}
	if d.page, err = work.reader.decode(work.buf.Bytes(), d.silent); err != nil {
		return out, metadata, err
	}
	out.Result = &s3.ListObjectsV2Output{}
	return out, metadata, nil
}

// workspace is what decoding a page needs, up to a MiB of it.
type workspace struct {
	buf    bytes.Buffer
	reader pageReader
}

// pageBytes is about what a full page takes.
const pageBytes = 400 << 10

var workspaces = sync.Pool{New: func() any {
	w := new(workspace)
	w.buf.Grow(pageBytes) // what isn't written to takes no memory
	return w
}}

// answered hands a response on that is already there.
type answered struct {
	out      middleware.DeserializeOutput
	metadata middleware.Metadata
	err      error
}

func (a answered) HandleDeserialize(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
	return a.out, a.metadata, a.err
}
