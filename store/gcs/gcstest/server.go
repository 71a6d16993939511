// Package gcstest is a Cloud Storage server inside a test: the parts of the
// JSON API that lakesweep uses, with the preconditions that the usual emulators
// ignore on deletes, and faults on demand.
package gcstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Object is an object of the server.
type Object struct {
	Data       []byte
	Generation int64
	Created    time.Time
	Updated    time.Time
	Held       bool // a temporary hold: it can't be deleted
}

// Server serves buckets, which come into being when they are first named.
type Server struct {
	URL      string
	Requests atomic.Int64

	// Fault looks at each request, at each part of a batch too; a status other
	// than 0 is the answer. Set these before the first request.
	Fault   func(*http.Request) (status int, reason, message string)
	Cut     bool   // batches end in the middle of their answers
	NoBatch bool   // there are no batches
	Bucket  string // JSON of what a bucket says of itself
	Now     func() time.Time

	mu         sync.Mutex
	generation int64
	objects    map[string]Object // "bucket/key"
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Now: time.Now, objects: map[string]Object{}, generation: 1000, Bucket: `{}`}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Put writes an object, of which Generation and missing times are set.
func (s *Server) Put(bucket, key string, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(bucket, key, o)
}

func (s *Server) put(bucket, key string, o Object) Object {
	s.generation++
	o.Generation = s.generation
	if o.Created.IsZero() {
		o.Created = s.Now().UTC()
	}
	if o.Updated.IsZero() {
		o.Updated = o.Created
	}
	s.objects[bucket+"/"+key] = o
	return o
}

// Names returns the names in a bucket, sorted.
func (s *Server) Names(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for full := range s.objects {
		if key, ok := strings.CutPrefix(full, bucket+"/"); ok {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names
}

func fail(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{ // a client that left
		"code": status, "message": message, "errors": []map[string]string{{"reason": reason, "message": message}}}})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that left
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	if s.Fault != nil {
		if status, reason, message := s.Fault(r); status != 0 {
			fail(w, status, reason, message)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// /storage/v1/b/BUCKET[/o[/OBJECT[/rewriteTo/b/BUCKET/o/OBJECT]]], names escaped.
	path := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if path[0] == "upload" {
		path = path[1:]
	}
	for i := range path {
		path[i] = unescape(path[i])
	}
	switch {
	case r.URL.Path == "/batch/storage/v1" && !s.NoBatch:
		s.serveBatch(w, r)
	case len(path) < 4 || path[0] != "storage" || path[2] != "b":
		fail(w, http.StatusNotFound, "notFound", "Not Found")
	case strings.HasPrefix(path[3], "missing"):
		fail(w, http.StatusNotFound, "notFound", "The specified bucket does not exist.")
	case len(path) == 4:
		_, _ = io.WriteString(w, s.Bucket)
	case len(path) == 5 && r.Method == http.MethodGet:
		s.list(w, r, path[3])
	case len(path) == 5:
		s.insert(w, r, path[3])
	case len(path) == 6 && r.Method == http.MethodDelete:
		s.remove(w, r, path[3], path[5])
	case len(path) == 6:
		s.get(w, r, path[3], path[5])
	case len(path) == 11 && path[6] == "rewriteTo":
		s.rewrite(w, r, path[3]+"/"+path[5], path[8], path[10])
	default:
		fail(w, http.StatusNotFound, "notFound", "Not Found")
	}
}

// allowed checks ifGenerationMatch.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request, full string) bool {
	want := r.URL.Query().Get("ifGenerationMatch")
	if want == "" || want == strconv.FormatInt(s.objects[full].Generation, 10) {
		return true
	}
	fail(w, http.StatusPreconditionFailed, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
	return false
}

func (s *Server) find(w http.ResponseWriter, bucket, key string) (Object, bool) {
	o, ok := s.objects[bucket+"/"+key]
	if !ok {
		fail(w, http.StatusNotFound, "notFound", "No such object: "+bucket+"/"+key)
	}
	return o, ok
}

func metadata(key string, o Object) map[string]any {
	return map[string]any{"name": key, "size": strconv.Itoa(len(o.Data)), "generation": strconv.FormatInt(o.Generation, 10),
		"timeCreated": o.Created.Format(time.RFC3339Nano), "updated": o.Updated.Format(time.RFC3339Nano)}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, bucket, key string) {
	o, ok := s.find(w, bucket, key)
	switch {
	case !ok:
	case r.URL.Query().Get("alt") == "media":
		w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.Generation, 10))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(o.Data)))
	default:
		reply(w, metadata(key, o))
	}
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request, bucket, key string) {
	if s.Fault != nil {
		if status, reason, message := s.Fault(r); status != 0 {
			fail(w, status, reason, message)
			return
		}
	}
	o, ok := s.find(w, bucket, key)
	if !ok || !s.allowed(w, r, bucket+"/"+key) {
		return
	}
	if o.Held {
		fail(w, http.StatusForbidden, "objectUnderActiveHold", "Object '"+bucket+"/"+key+"' is under active Temporary hold and cannot be deleted, overwritten or archived until hold is removed.")
		return
	}
	delete(s.objects, bucket+"/"+key)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) rewrite(w http.ResponseWriter, r *http.Request, from, bucket, key string) {
	o, ok := s.objects[from]
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "notFound", "No such object: "+from)
	case !s.allowed(w, r, bucket+"/"+key):
	case r.URL.Query().Get("rewriteToken") == "": // every rewrite takes two steps
		reply(w, map[string]any{"done": false, "rewriteToken": "on"})
	default:
		o = s.put(bucket, key, Object{Data: o.Data})
		reply(w, map[string]any{"done": true, "resource": metadata(key, o)})
	}
}

// insert takes the multipart upload of name and bytes.
func (s *Server) insert(w http.ResponseWriter, r *http.Request, bucket string) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	var o struct{ Name string }
	var data []byte
	parts := multipart.NewReader(r.Body, params["boundary"])
	for i := range 2 {
		part, err := parts.NextPart()
		if err == nil && i == 0 {
			err = json.NewDecoder(part).Decode(&o)
		} else if err == nil {
			data, err = io.ReadAll(part)
		}
		if err != nil {
			fail(w, http.StatusBadRequest, "invalid", err.Error())
			return
		}
	}
	if strings.ContainsAny(o.Name, "\r\n") {
		fail(w, http.StatusBadRequest, "invalid", "Disallowed unicode characters present in object name")
		return
	}
	if s.allowed(w, r, bucket+"/"+o.Name) {
		reply(w, metadata(o.Name, s.put(bucket, o.Name, Object{Data: data})))
	}
}

// serveBatch answers each part by a request to itself.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	answers := multipart.NewWriter(w)
	w.Header().Set("Content-Type", "multipart/mixed; boundary="+answers.Boundary())
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if err == io.EOF && n <= 100 {
			_ = answers.Close() // a client that left
			return
		}
		if err != nil || n >= 100 || s.Cut && n == 2 {
			return // cut
		}
		s.servePart(answers, part)
	}
}

func (s *Server) servePart(answers *multipart.Writer, part *multipart.Part) {
	inner := httptest.NewRecorder()
	if req, err := readRequest(part); err != nil {
		fail(inner, http.StatusBadRequest, "invalid", err.Error())
	} else if path := strings.Split(strings.TrimPrefix(req.URL.EscapedPath(), "/"), "/"); len(path) != 6 || req.Method != http.MethodDelete {
		fail(inner, http.StatusBadRequest, "invalid", "not a delete")
	} else {
		s.remove(inner, req, unescape(path[3]), unescape(path[5]))
	}
	id := strings.Trim(part.Header.Get("Content-Id"), "<>")
	out, err := answers.CreatePart(map[string][]string{"Content-Type": {"application/http"}, "Content-Id": {"<response-" + id + ">"}})
	if err == nil {
		resp := inner.Result()
		fmt.Fprintf(out, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", resp.Status, inner.Body.Len(), inner.Body)
	}
}
