package main

import (
	"fmt"
	"log"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	pageKeys  = 1000
	timestamp = "2006-01-02T15:04:05.000Z"
)

func (s *server) list(w http.ResponseWriter, q url.Values) {
	s.lists.Add(1)
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"), q.Get("start-after")
	if t, err := url.QueryUnescape(q.Get("continuation-token")); err != nil {
		fail(w, http.StatusBadRequest, "InvalidArgument")
		return
	} else if t != "" {
		after = t
	}
	limit := pageKeys
	if n, err := strconv.Atoi(q.Get("max-keys")); err == nil {
		limit = min(limit, n)
	}
	appendKey := func(b []byte, k string) []byte { return append(b, k...) }
	if q.Get("encoding-type") == "url" {
		appendKey = appendEscaped
	}
	files, err := s.overlay.files()
	if err != nil {
		fail(w, http.StatusInternalServerError, "InternalError")
		return
	}
	c := cursor{s: s, files: files, modified: s.modified.Format(timestamp)}
	c.seek(after, false)
	if prefix > after {
		c.seek(prefix, true)
	}
	b := make([]byte, 0, 1<<10+limit*330)
	b = append(b, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>`...)
	if q.Get("encoding-type") != "url" {
		b = b[:len(b)-len("<EncodingType>url</EncodingType>")]
	}
	n, last, more := 0, after, false
	usual := appendRest(nil, object{modified: c.modified, size: s.size})
	for ; ; n++ {
		o, ok := c.next()
		if !ok || !strings.HasPrefix(o.key, prefix) {
			break
		}
		if more = n == limit; more {
			break
		}
		if dir, ok := folded(o.key, prefix, delimiter); ok {
			last = dir + "\U0010FFFF"
			c.seek(last, false)
			b = append(appendKey(append(b, "<CommonPrefixes><Prefix>"...), dir), "</Prefix></CommonPrefixes>"...)
			continue
		}
		last = o.key
		b = appendKey(append(b, "<Contents><Key>"...), o.key)
		if o.size == s.size && o.modified == c.modified {
			b = append(b, usual...)
		} else {
			b = appendRest(b, o)
		}
	}
	b = fmt.Appendf(b, "<KeyCount>%d</KeyCount><MaxKeys>%d</MaxKeys><IsTruncated>%t</IsTruncated>", n, limit, more)
	if more {
		b = append(append(append(b, "<NextContinuationToken>"...), url.QueryEscape(last)...), "</NextContinuationToken>"...)
	}
	w.Header().Set("Content-Type", "application/xml")
	if _, err := w.Write(append(b, "</ListBucketResult>"...)); err != nil {
		log.Print(err)
	}
}

// folded returns the directory that a key is folded into where there is a delimiter.
func folded(key, prefix, delimiter string) (dir string, ok bool) {
	if delimiter != "/" {
		return "", false
	}
	end := strings.IndexByte(key[len(prefix):], '/')
	return key[:len(prefix)+end+1], end >= 0
}

// appendRest appends what follows the key of an object.
func appendRest(b []byte, o object) []byte {
	b = append(append(append(b, "</Key><LastModified>"...), o.modified...), `</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>`...)
	return append(strconv.AppendInt(b, o.size, 10), `</Size><StorageClass>STANDARD</StorageClass></Contents>`...)
}

// unescaped are the bytes of keys that encoding-type=url leaves as they are.
var unescaped = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c|0x20 && c|0x20 <= 'z' && c < 0x80 || '0' <= c && c <= '9' || strings.IndexByte("-_.~/", byte(c)) >= 0
	}
	return t
}()

// appendEscaped appends a key as encoding-type=url has it: url.QueryEscape but
// for slashes.
func appendEscaped(b []byte, k string) []byte {
	const hex = "0123456789ABCDEF"
	start := 0
	for i := range len(k) {
		c := k[i]
		if unescaped[c] {
			continue
		}
		b = append(b, k[start:i]...)
		if start = i + 1; c == ' ' {
			b = append(b, '+')
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return append(b, k[start:]...)
}

// cursor goes through the keys and the overlay in one order.
type cursor struct {
	s        *server
	files    []object // of the overlay, sorted
	modified string
	i, f     int
}

func (c *cursor) seek(k string, orAt bool) {
	c.i = c.s.keys.after(k, orAt)
	f, found := slices.BinarySearchFunc(c.files, object{key: k}, byKey)
	if c.f = f; found && !orAt {
		c.f++
	}
}

func (c *cursor) next() (o object, ok bool) {
	for {
		switch {
		case c.i < c.s.keys.n && (c.f == len(c.files) || c.s.keys.at(c.i) < c.files[c.f].key):
			o = object{c.s.keys.at(c.i), c.modified, c.s.size}
			c.i++
			if c.s.isDeleted(o.key) {
				continue
			}
			return o, true
		case c.f < len(c.files):
			c.f++
			return c.files[c.f-1], true
		default:
			return object{}, false
		}
	}
}

func (s *server) isDeleted(key string) bool {
	if s.deletedKeys.Load() == 0 {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.deleted[key]
}

func stamp(t time.Time) string { return t.UTC().Format(timestamp) }
