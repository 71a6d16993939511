package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// overlay is a folder whose files stand below a prefix of the bucket. Nobody
// but the server may change it while it is served.
type overlay struct {
	folder, prefix string

	mu     sync.Mutex
	listed []object // nil if it isn't known
}

// files lists it, sorted by key.
func (o *overlay) files() ([]object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.folder == "" || o.listed != nil {
		return o.listed, nil
	}
	list, err := o.read()
	if err == nil {
		o.listed = list
	}
	return list, err
}

// changed says that a file was written or removed.
func (o *overlay) changed() {
	o.mu.Lock()
	o.listed = nil
	o.mu.Unlock()
}

func (o *overlay) read() (list []object, err error) {
	err = filepath.WalkDir(o.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(o.folder, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		list = append(list, object{o.prefix + filepath.ToSlash(rel), stamp(info.ModTime()), info.Size()})
		return err
	})
	slices.SortFunc(list, byKey)
	return list, err
}

// path returns where a key lies; ok is false for one outside.
func (o *overlay) path(key string) (path string, ok bool) {
	rel, below := strings.CutPrefix(key, o.prefix)
	if o.folder == "" || !below || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.Join(o.folder, filepath.FromSlash(rel)), true
}

func tag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size())
}

func (s *server) get(w http.ResponseWriter, r *http.Request, key string) {
	s.gets.Add(1)
	if path, ok := s.overlay.path(key); ok {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			w.Header().Set("ETag", tag(info))
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeFile(w, r, path)
			return
		}
	}
	if _, ok := s.keys.index(key); !ok || s.isDeleted(key) {
		fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	if r.Method == http.MethodGet {
		fail(w, http.StatusForbidden, "AccessDenied") // a vacuum opens no data file
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(s.size, 10))
	w.Header().Set("Last-Modified", s.modified.Format(http.TimeFormat))
	w.Header().Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
}

func (s *server) put(w http.ResponseWriter, r *http.Request, key string) {
	s.puts.Add(1)
	path, ok := s.overlay.path(key)
	if !ok {
		fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.holds(w, r, path) {
		return
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, body, 0o644))
	if s.overlay.changed(); err != nil {
		fail(w, http.StatusInternalServerError, "InternalError")
		return
	}
	if info, err := os.Stat(path); err == nil {
		w.Header().Set("ETag", tag(info))
	}
}

// holds answers a request whose conditions the file at path doesn't meet.
func (s *server) holds(w http.ResponseWriter, r *http.Request, path string) bool {
	info, err := os.Stat(path)
	absent, match := r.Header.Get("If-None-Match"), r.Header.Get("If-Match")
	switch {
	case absent == "*" && err == nil, match != "" && err == nil && match != tag(info):
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case match != "" && err != nil:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		return true
	}
	return false
}

// remove deletes one key. It takes no token of the keys: that is deleteMany's limit.
func (s *server) remove(w http.ResponseWriter, r *http.Request, key string) {
	path, ok := s.overlay.path(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(path); ok && err == nil {
		if !s.holds(w, r, path) {
			return
		}
		err := os.Remove(path)
		if s.overlay.changed(); err != nil {
			fail(w, http.StatusInternalServerError, "InternalError")
			return
		}
	} else if _, ok := s.keys.index(key); ok {
		s.deleted[key] = true
		s.deletedKeys.Add(1)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) deleteMany(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Quiet  bool
		Object []struct{ Key string }
	}
	if err := xml.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Object) > pageKeys {
		fail(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	type failure struct{ Key, Code, Message string }
	var out struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Deleted []struct{ Key string }
		Error   []failure
	}
	for _, o := range req.Object {
		if !s.deletes.AllowN(time.Now(), 1) {
			s.throttled.Add(1)
			out.Error = append(out.Error, failure{o.Key, "SlowDown", "Please reduce your request rate."})
			continue
		}
		s.mu.Lock()
		s.deleted[o.Key] = true
		s.mu.Unlock()
		s.deletedKeys.Add(1)
		if !req.Quiet {
			out.Deleted = append(out.Deleted, struct{ Key string }{o.Key})
		}
	}
	body, err := xml.Marshal(out)
	if err != nil {
		fail(w, http.StatusInternalServerError, "InternalError")
		return
	}
	answer(w, string(body))
}
