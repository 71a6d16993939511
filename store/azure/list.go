package azure

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/lakesweep/lakesweep/store"
)

// List returns one page of List Blobs. It may be shorter than Limit, even
// empty, and still go on: the service cuts pages at borders of its own.
//
// Errors: ErrUnsupported for flat listings where Traits has none; ErrTruncated
// for an answer that isn't whole.
func (s *Store) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	p, err := s.list(ctx, req)
	if err != nil {
		return store.Page{}, s.fail("list", req.Prefix, err)
	}
	return p, nil
}

func (s *Store) list(ctx context.Context, req store.PageRequest) (store.Page, error) {
	t := s.Traits()
	switch {
	case req.Versions && !t.Versions, !req.Versions && !req.Dirs && !t.Flat, req.After != "" && !t.StartAfter:
		return store.Page{}, store.ErrUnsupported
	case req.After != "" && (req.Token != "" || req.Versions), req.Dirs && req.Versions:
		return store.Page{}, fs.ErrInvalid
	}
	a := ask{prefix: s.prefix + store.ValidPrefix(req.Prefix), marker: req.Token, dirs: req.Dirs, versions: req.Versions, limit: req.Limit}
	if req.After != "" {
		a.startFrom = s.prefix + store.ValidPrefix(req.After)
	}
	p, err := s.page(ctx, a)
	if err != nil {
		return store.Page{}, err
	}
	kept := make([]store.Info, 0, len(p.entries))
	for _, e := range p.entries {
		if !strings.HasPrefix(e.name, a.prefix) {
			return store.Page{}, fmt.Errorf("the server ignored the prefix %q: it listed %q", a.prefix, e.name)
		}
		info, ok := s.info(e)
		if req.Versions && info.Kind == store.Marker {
			info.Name, info.Kind = info.Listed(), store.File
		}
		// startFrom is inclusive; what ValidPrefix left off is asked here.
		listed := info.Listed()
		above := info.Kind == store.Dir && strings.HasPrefix(req.After, listed)
		if ok && strings.HasPrefix(listed, req.Prefix) && (listed > req.After || above) {
			kept = append(kept, info)
		}
	}
	return store.Page{Entries: kept, Next: p.next}, nil
}

// info describes an entry by its name below the place. Not ok: it is no entry.
//
// A directory of a hierarchical account comes as a folded name and, in some
// listings, as a blob of the name without slash as well: only the former
// counts. On flat accounts such blobs (hdi_isfolder) are the placeholders of
// older drivers. They sort elsewhere than what they stand for, hold no bytes,
// and are left alone.
func (s *Store) info(e entry) (store.Info, bool) {
	if e.directory && !e.prefix || len(e.name) <= len(s.prefix) || e.name == "/" {
		return store.Info{}, false
	}
	i := store.Info{Name: e.name[len(s.prefix):], Size: e.size, Modified: younger(e.created, e.modified), ETag: quoted(e.etag), Version: e.version}
	if dir, ok := strings.CutSuffix(i.Name, "/"); ok {
		i.Name, i.Kind = dir, store.Marker
		if e.prefix {
			i.Kind, i.Size = store.Dir, -1
		}
	}
	return i, true
}

// younger returns the later time. Last-Modified moves with the metadata, and a
// copy may be created later than its source was modified.
func younger(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// quoted returns an ETag as headers have it; listings leave the quotes out.
func quoted(etag string) string {
	if etag == "" || strings.HasPrefix(etag, `"`) || strings.HasPrefix(etag, "W/") {
		return etag
	}
	return `"` + etag + `"`
}

// ask is what a List Blobs request holds.
type ask struct {
	prefix, startFrom, marker string
	dirs, versions            bool
	limit                     int
}

// page asks for a page by the SDK's request and decodes the answer itself.
func (s *Store) page(ctx context.Context, a ask) (page, error) {
	p := &page{}
	ctx = context.WithValue(ctx, slot{}, p)
	include := container.ListBlobsInclude{Metadata: true, Versions: a.versions}
	var limit *int32
	if a.limit > 0 && a.limit < maxPage {
		n := int32(a.limit)
		limit = &n
	}
	var err error
	if a.dirs {
		_, err = s.container.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{
			Include: include, Prefix: optional(a.prefix), StartFrom: optional(a.startFrom), Marker: optional(a.marker), MaxResults: limit}).NextPage(ctx)
	} else {
		_, err = s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Include: include, Prefix: optional(a.prefix), StartFrom: optional(a.startFrom), Marker: optional(a.marker), MaxResults: limit}).NextPage(ctx)
	}
	if err != nil {
		return page{}, err
	}
	return *p, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// slot is the key of a context's *page, which a decoder fills.
type slot struct{}

// decoder takes the place of the SDK's decoding of listings, which takes 200
// allocations a blob: it reads the answer into the context's page and hands an
// empty one on.
type decoder struct{}

func (decoder) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	p, ok := req.Raw().Context().Value(slot{}).(*page)
	if err != nil || !ok || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := runtime.Payload(resp)
	if err != nil {
		return nil, fmt.Errorf("page of a listing: %w: %w", store.ErrTruncated, err)
	}
	r := readers.Get().(*reader)
	defer readers.Put(r)
	if *p, err = r.decode(body); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader([]byte("<EnumerationResults/>")))
	return resp, nil
}

var readers = sync.Pool{New: func() any { return new(reader) }}
