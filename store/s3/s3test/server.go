// Package s3test is an S3 server inside a test: the parts of the protocol that
// lakesweep uses, with real page semantics, real limits and faults on demand.
// What real S3 refuses and the usual emulators accept (more than 1000 keys in a
// bulk delete, an ETag that differs) is refused here.
package s3test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// Server serves buckets, which come into being when they are first named.
type Server struct {
	URL      string
	Requests atomic.Int64

	// Fault looks at each request; a Fault other than the zero one strikes it.
	// Set it before the first request.
	Fault func(*http.Request) Fault

	// What kind of server this is. Set before the first request.
	NoBulkDelete     bool // as Google's S3 door: 501
	WantMD5          bool // bulk deletes need Content-MD5
	IgnoreConditions bool // as some emulators: If-Match and ETag don't matter
	NoVersioningCall bool // GetBucketVersioning is denied
	Now              func() time.Time
	KeyError         func(key string) (code string) // errors of single keys inside bulk deletes; "CODE: MESSAGE" gives both

	buckets func(string) *mem.Store
}

// Fault is what happens to a request.
type Fault struct {
	Status      int           // answered with Code
	Code        string        // "SlowDown"
	Delay       time.Duration // before all else; the client's patience may end first
	Hang        bool          // no answer until the client gives up
	CutAfter    int           // the body ends after so many bytes, without an error of the protocol
	Unsorted    bool          // a page in the wrong order
	IgnoreStart bool          // start-after has no effect
	WrongCount  bool          // KeyCount is off by one
	Lost        bool          // all is done, then the connection breaks
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Now: time.Now}
	buckets := newBuckets(func() time.Time { return s.Now() })
	s.buckets = buckets
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Bucket returns the objects of a bucket, by their keys.
func (s *Server) Bucket(name string) *mem.Store { return s.buckets(name) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	var f Fault
	if s.Fault != nil {
		f = s.Fault(r)
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return
		}
	}
	if f.Hang {
		<-r.Context().Done()
		return
	}
	if f.Status != 0 {
		fail(w, f.Status, f.Code, "on demand")
		return
	}
	out := &answer{ResponseWriter: w, fault: f}
	bucket, key, err := path(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "InvalidURI", err.Error())
		return
	}
	s.route(out, r, bucket, key, f)
	if f.Lost {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, bucket, key string, f Fault) {
	b, q := s.buckets(bucket), r.URL.Query()
	switch {
	case key == "" && r.Method == http.MethodGet && q.Has("versioning"):
		if s.NoVersioningCall {
			fail(w, http.StatusForbidden, "AccessDenied", "no s3:GetBucketVersioning")
			return
		}
		fmt.Fprint(w, xml.Header+`<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></VersioningConfiguration>`)
	case key == "" && r.Method == http.MethodGet:
		s.list(w, r, b, q, f)
	case key == "" && r.Method == http.MethodPost && q.Has("delete"):
		s.bulkDelete(w, r, b)
	case key == "":
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		s.get(w, r, b, key)
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		s.copy(w, r, b, key)
	case r.Method == http.MethodPut:
		s.put(w, r, b, key)
	case r.Method == http.MethodDelete:
		s.delete(w, r, b, key)
	default:
		fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method)
	}
}

// path splits the request's path, as it came, into bucket and key.
func path(r *http.Request) (bucket, key string, err error) {
	raw, _, _ := strings.Cut(r.RequestURI, "?")
	bucket, key, _ = strings.Cut(strings.TrimPrefix(raw, "/"), "/")
	if key, err = url.PathUnescape(key); err != nil {
		return "", "", err
	}
	bucket, err = url.PathUnescape(bucket)
	return bucket, key, err
}

// answer cuts bodies short.
type answer struct {
	http.ResponseWriter
	fault Fault
	sent  int
}

func (a *answer) Write(p []byte) (int, error) {
	if a.fault.CutAfter > 0 {
		keep := min(len(p), max(a.fault.CutAfter-a.sent, 0))
		if a.sent == 0 && a.Header().Get("Content-Length") == "" {
			a.Header().Set("Content-Length", strconv.Itoa(keep)) // an end that looks clean
		}
		if _, err := a.ResponseWriter.Write(p[:keep]); err != nil {
			return 0, err
		}
		a.sent += keep
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>%s</Message></Error>", xml.Header, code, escape(message))
}

// failWith answers with what a store's error means in S3.
func failWith(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fail(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	case errors.Is(err, fs.ErrExist), errors.Is(err, store.ErrChanged):
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	default:
		fail(w, http.StatusInternalServerError, "InternalError", err.Error())
	}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder doesn't fail
	return b.String()
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, b *mem.Store, key string) {
	info, err := b.Stat(r.Context(), key)
	if err != nil {
		failWith(w, err)
		return
	}
	offset, length, status := int64(0), info.Size, http.StatusOK
	if spec, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		from, to, _ := strings.Cut(spec, "-")
		if offset, err = strconv.ParseInt(from, 10, 64); err != nil || offset >= info.Size {
			fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange", spec)
			return
		}
		last := info.Size - 1
		if to != "" {
			if last, err = strconv.ParseInt(to, 10, 64); err != nil {
				fail(w, http.StatusBadRequest, "InvalidArgument", spec)
				return
			}
			last = min(last, info.Size-1)
		}
		length, status = last-offset+1, http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", offset, last, info.Size))
	}
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	w.Header().Set("ETag", info.ETag)
	w.Header().Set("Last-Modified", info.Modified.Format(http.TimeFormat))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	body, err := b.Open(r.Context(), key, offset, length)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
