package s3test

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func newBuckets(now func() time.Time) func(string) *mem.Store {
	var mu sync.Mutex
	all := map[string]*mem.Store{}
	return func(name string) *mem.Store {
		mu.Lock()
		defer mu.Unlock()
		if all[name] == nil {
			all[name] = mem.New(mem.Options{Now: now})
		}
		return all[name]
	}
}

// list answers ListObjectsV2. Keys are compared as bytes; a page holds at most
// 1000 entries, common prefixes counted.
func (s *Server) list(w http.ResponseWriter, r *http.Request, b *mem.Store, q url.Values, f Fault) {
	if q.Get("list-type") != "2" {
		fail(w, http.StatusNotImplemented, "NotImplemented", "only ListObjectsV2")
		return
	}
	limit := 1000
	if v := q.Get("max-keys"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			fail(w, http.StatusBadRequest, "InvalidArgument", "max-keys")
			return
		}
		limit = min(limit, n)
	}
	req := store.PageRequest{Prefix: q.Get("prefix"), Dirs: q.Get("delimiter") == "/", Limit: limit}
	if token := q.Get("continuation-token"); token != "" {
		last, err := base64.URLEncoding.DecodeString(token)
		if err != nil {
			fail(w, http.StatusBadRequest, "InvalidArgument", "The continuation token provided is incorrect")
			return
		}
		req.Token = string(last)
	} else if !f.IgnoreStart {
		req.After = q.Get("start-after")
	}
	page, err := b.List(r.Context(), req)
	if err != nil {
		failWith(w, err)
		return
	}
	if f.Unsorted {
		slices.Reverse(page.Entries)
	}
	coded := q.Get("encoding-type") == "url"
	name := func(s string) string {
		if coded {
			s = strings.ReplaceAll(url.QueryEscape(s), "%2F", "/")
		}
		return escape(s)
	}
	var x strings.Builder
	fmt.Fprintf(&x, `%s<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>%s</Prefix>`, xml.Header, name(req.Prefix))
	count := len(page.Entries)
	if f.WrongCount {
		count++
	}
	fmt.Fprintf(&x, "<KeyCount>%d</KeyCount><MaxKeys>%d</MaxKeys><IsTruncated>%t</IsTruncated>", count, limit, page.Next != "")
	if page.Next != "" {
		fmt.Fprintf(&x, "<NextContinuationToken>%s</NextContinuationToken>", base64.URLEncoding.EncodeToString([]byte(page.Next)))
	}
	if coded {
		x.WriteString("<EncodingType>url</EncodingType>")
	}
	for _, e := range page.Entries {
		if e.Kind != store.Dir {
			fmt.Fprintf(&x, "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>",
				name(e.Listed()), e.Modified.Format("2006-01-02T15:04:05.000Z"), escape(e.ETag), e.Size)
		}
	}
	for _, e := range page.Entries {
		if e.Kind == store.Dir {
			fmt.Fprintf(&x, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", name(e.Listed()))
		}
	}
	x.WriteString("</ListBucketResult>")
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, x.String())
}
