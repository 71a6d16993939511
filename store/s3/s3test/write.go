package s3test

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

func (s *Server) put(w http.ResponseWriter, r *http.Request, b *mem.Store, key string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody", err.Error())
		return
	}
	ifMatch := r.Header.Get("If-Match")
	if s.IgnoreConditions {
		ifMatch = ""
	}
	if r.Header.Get("If-None-Match") == "*" && !s.IgnoreConditions {
		if err := b.PutIfAbsent(r.Context(), key, data); err != nil {
			failWith(w, err)
			return
		}
		info, err := b.Stat(r.Context(), key)
		if err != nil {
			failWith(w, err)
			return
		}
		w.Header().Set("ETag", info.ETag)
		return
	}
	if ifMatch != "" {
		if _, err := b.Stat(r.Context(), key); err != nil {
			failWith(w, err) // S3 answers 404 where there is nothing to match
			return
		}
	}
	etag, err := b.Replace(r.Context(), key, data, ifMatch)
	if err != nil {
		failWith(w, err)
		return
	}
	w.Header().Set("ETag", etag)
}

func (s *Server) copy(w http.ResponseWriter, r *http.Request, b *mem.Store, key string) {
	source, err := url.PathUnescape(strings.TrimPrefix(r.Header.Get("X-Amz-Copy-Source"), "/"))
	if err != nil {
		fail(w, http.StatusBadRequest, "InvalidArgument", "copy source")
		return
	}
	bucket, from, _ := strings.Cut(source, "/")
	info, err := s.buckets(bucket).Stat(r.Context(), from)
	if err == nil && r.Header.Get("X-Amz-Copy-Source-If-Match") != "" && r.Header.Get("X-Amz-Copy-Source-If-Match") != info.ETag {
		err = store.ErrChanged
	}
	if err == nil {
		if r.Header.Get("If-None-Match") != "*" {
			if rmErr := b.Remove(r.Context(), key, ""); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
				err = rmErr
			}
		}
		if err == nil {
			err = s.buckets(bucket).Copy(r.Context(), from, b, key)
		}
	}
	if err != nil {
		failWith(w, err)
		return
	}
	fmt.Fprintf(w, "%s<CopyObjectResult><ETag>%s</ETag></CopyObjectResult>", xml.Header, escape(info.ETag))
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, b *mem.Store, key string) {
	ifMatch := r.Header.Get("If-Match")
	if s.IgnoreConditions {
		ifMatch = ""
	}
	if err := b.Remove(r.Context(), key, ifMatch); err != nil && (ifMatch != "" || !errors.Is(err, fs.ErrNotExist)) {
		failWith(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) bulkDelete(w http.ResponseWriter, r *http.Request, b *mem.Store) {
	var in struct {
		Quiet  bool
		Object []struct{ Key, ETag, VersionId string }
	}
	switch {
	case s.NoBulkDelete:
		fail(w, http.StatusNotImplemented, "NotImplemented", "A header or query you provided requested a function that is not implemented.")
		return
	case s.WantMD5 && r.Header.Get("Content-MD5") == "":
		fail(w, http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: Content-MD5")
		return
	}
	if err := xml.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Object) == 0 || len(in.Object) > 1000 {
		fail(w, http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
		return
	}
	var x strings.Builder
	fmt.Fprintf(&x, `%s<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`, xml.Header)
	for _, o := range in.Object {
		code := ""
		if s.KeyError != nil {
			code = s.KeyError(o.Key)
		}
		if s.IgnoreConditions {
			o.ETag = ""
		}
		if code == "" {
			switch err := b.Remove(r.Context(), o.Key, o.ETag); {
			case errors.Is(err, store.ErrChanged):
				code = "PreconditionFailed"
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				code = "InternalError"
			}
		}
		if code, message, _ := strings.Cut(code, ": "); code != "" {
			fmt.Fprintf(&x, "<Error><Key>%s</Key><Code>%s</Code><Message>%s</Message></Error>", escape(o.Key), code, escape(cmp.Or(message, "on demand")))
		} else if !in.Quiet {
			fmt.Fprintf(&x, "<Deleted><Key>%s</Key></Deleted>", escape(o.Key))
		}
	}
	x.WriteString("</DeleteResult>")
	fmt.Fprint(w, x.String())
}
