// Package azuretest is an Azure Blob service inside a test: the parts of the
// REST API that lakesweep uses, with what the usual emulator lacks (listings
// that start in the middle, hierarchical accounts) and faults on demand.
package azuretest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Blob is a blob, or a directory of a hierarchical account.
type Blob struct {
	Data      []byte
	ETag      string
	Version   string
	Created   time.Time
	Modified  time.Time
	Directory bool
	Old       bool // a version that isn't the current one
}

// Server serves one account, whose containers come into being when they are
// first named. Containers named "missing…" don't.
type Server struct {
	URL      string // of the account
	Requests atomic.Int64

	// Fault looks at each request, at each part of a batch too; a status other
	// than 0 is the answer. Set these before the first request.
	Fault        func(*http.Request) (status int, code string)
	Hierarchical bool
	NoStartFrom  bool // startFrom is ignored, as by services before 2026-02-06
	Versioned    bool
	NoBatch      bool // batches are refused
	SoftDelete   int  // days
	Cut          int  // listings end after so many bytes
	Now          func() time.Time

	mu    sync.Mutex
	n     int
	blobs map[string][]Blob // "container/name": the versions, the current one last
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Now: time.Now, blobs: map[string][]Blob{}}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL + "/account"
	return s
}

// Put writes a blob, of which ETag, Version and missing times are set.
func (s *Server) Put(container, name string, b Blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(container+"/"+name, b)
}

func (s *Server) put(full string, b Blob) Blob {
	s.n++
	b.ETag, b.Version = fmt.Sprintf("0x8D%05X", s.n), ""
	if b.Modified.IsZero() {
		b.Modified = s.Now().UTC()
	}
	if b.Created.IsZero() {
		b.Created = b.Modified
	}
	var old []Blob
	if s.Versioned {
		b.Version = fmt.Sprintf("2026-01-01T00:00:00.%07dZ", s.n)
		old = s.blobs[full]
		for i := range old {
			old[i].Old = true
		}
	}
	s.blobs[full] = append(old, b)
	if s.Hierarchical {
		for dir := full; strings.Count(dir, "/") > 1; {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			if _, ok := s.current(dir); !ok {
				s.n++
				s.blobs[dir] = []Blob{{Directory: true, ETag: fmt.Sprintf("0x8D%05X", s.n), Created: b.Modified, Modified: b.Modified}}
			}
		}
	}
	return b
}

// Names returns the names in a container, sorted, directories left out.
func (s *Server) Names(container string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for full := range s.blobs {
		if name, ok := strings.CutPrefix(full, container+"/"); ok {
			if b, ok := s.current(full); ok && !b.Directory {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (s *Server) current(full string) (Blob, bool) {
	all := s.blobs[full]
	if len(all) == 0 || all[len(all)-1].Old {
		return Blob{}, false
	}
	return all[len(all)-1], true
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>on demand</Message></Error>", code)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	if s.Fault != nil {
		if status, code := s.Fault(r); status != 0 {
			fail(w, status, code)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	container, name := split(r.URL)
	switch {
	case q.Get("comp") == "properties" && q.Get("restype") == "account":
		w.Header().Set("X-Ms-Is-Hns-Enabled", fmt.Sprint(s.Hierarchical))
	case q.Get("comp") == "properties":
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><StorageServiceProperties><DeleteRetentionPolicy><Enabled>%v</Enabled><Days>%d</Days></DeleteRetentionPolicy></StorageServiceProperties>", s.SoftDelete > 0, max(s.SoftDelete, 1))
	case strings.HasPrefix(container, "missing"):
		fail(w, http.StatusNotFound, "ContainerNotFound")
	case q.Get("comp") == "list":
		s.list(w, q, container)
	case q.Get("comp") == "batch":
		s.serveBatch(w, r)
	case r.Method == http.MethodDelete:
		s.remove(w, r, container+"/"+name)
	case r.Method == http.MethodPut && r.Header.Get("X-Ms-Copy-Source") != "":
		s.copy(w, r, container+"/"+name)
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err == nil && s.allowed(w, r, container+"/"+name) {
			w.Header().Set("Etag", `"`+s.put(container+"/"+name, Blob{Data: data}).ETag+`"`)
			w.WriteHeader(http.StatusCreated)
		}
	default:
		s.get(w, r, container+"/"+name)
	}
}

// split reads "/account/CONTAINER/NAME", escaped.
func split(u *url.URL) (container, name string) {
	path := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", 3)
	unescape := func(s string) string {
		if v, err := url.PathUnescape(s); err == nil {
			return v
		}
		return s
	}
	if len(path) > 1 {
		container = unescape(path[1])
	}
	if len(path) > 2 {
		name = unescape(path[2])
	}
	return container, name
}

// allowed checks If-Match and If-None-Match.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, full string) bool {
	b, ok := s.current(full)
	if r.Header.Get("If-None-Match") == "*" && ok {
		fail(w, http.StatusConflict, "BlobAlreadyExists")
		return false
	}
	if want := r.Header.Get("If-Match"); want != "" && (!ok || want != `"`+b.ETag+`"`) {
		fail(w, http.StatusPreconditionFailed, "ConditionNotMet")
		return false
	}
	return true
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, full string) {
	b, ok := s.current(full)
	if !ok {
		fail(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	h := w.Header()
	h.Set("Etag", `"`+b.ETag+`"`)
	h.Set("Last-Modified", b.Modified.Format(http.TimeFormat))
	h.Set("X-Ms-Creation-Time", b.Created.Format(http.TimeFormat))
	if b.Directory {
		h.Set("X-Ms-Meta-Hdi_isfolder", "true")
	}
	if ranges := r.Header.Get("X-Ms-Range"); ranges != "" {
		if len(b.Data) == 0 {
			fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		r.Header.Set("Range", ranges)
	}
	h.Del("Content-Type")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b.Data)))
}

func (s *Server) copy(w http.ResponseWriter, r *http.Request, full string) {
	u, err := url.Parse(r.Header.Get("X-Ms-Copy-Source"))
	if err != nil {
		fail(w, http.StatusBadRequest, "InvalidHeaderValue")
		return
	}
	container, name := split(u)
	b, ok := s.current(container + "/" + name)
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "BlobNotFound")
	case r.Header.Get("X-Ms-Source-If-Match") != `"`+b.ETag+`"`:
		fail(w, http.StatusPreconditionFailed, "SourceConditionNotMet")
	case s.allowed(w, r, full):
		w.Header().Set("Etag", `"`+s.put(full, Blob{Data: b.Data}).ETag+`"`)
		w.Header().Set("X-Ms-Copy-Id", "1")
		w.Header().Set("X-Ms-Copy-Status", "success")
		w.WriteHeader(http.StatusAccepted)
	}
}

// remove deletes a blob or one version of it. A directory must be empty.
func (s *Server) remove(w http.ResponseWriter, r *http.Request, full string) {
	if s.Fault != nil {
		if status, code := s.Fault(r); status != 0 {
			fail(w, status, code)
			return
		}
	}
	if id := r.URL.Query().Get("versionid"); id != "" {
		n := len(s.blobs[full])
		s.blobs[full] = slices.DeleteFunc(s.blobs[full], func(b Blob) bool { return b.Version == id })
		if len(s.blobs[full]) == n {
			fail(w, http.StatusNotFound, "BlobNotFound")
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b, ok := s.current(full)
	if !ok {
		fail(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	if !s.allowed(w, r, full) {
		return
	}
	for other := range s.blobs {
		if _, there := s.current(other); b.Directory && there && strings.HasPrefix(other, full+"/") {
			fail(w, http.StatusConflict, "DirectoryIsNotEmpty")
			return
		}
	}
	if s.Versioned {
		for i := range s.blobs[full] {
			s.blobs[full][i].Old = true
		}
	} else {
		delete(s.blobs, full)
	}
	w.WriteHeader(http.StatusAccepted)
}
