package s3

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/internal/xmlscan"
)

// A page is what we need of a ListObjectsV2 answer.
type page struct {
	entries   []store.Info // names are whole keys
	truncated bool
	next      string
	doubtful  bool // it doesn't say whether keys are encoded, and that matters
}

// rawEntry is an entry whose strings still lie in the answer's bytes.
type rawEntry struct {
	key, etag []byte
	size      int64
	modified  time.Time
	prefix    bool
}

// pageReader decodes answers. It can be used again, by one goroutine at a time.
type pageReader struct {
	scan      xmlscan.Scanner
	raw       []rawEntry
	urlCoding bool
	truncated string
	next      []byte
	keyCount  int64 // -1 if absent

	shape []field // the children of the object before, nil if they were more than text

	day  [10]byte // of the entry before, "2006-01-02"
	date int64    // its Unix time
}

// decode reads the answer b, which it overwrites. The page holds no part of b.
// Keys are decoded if the answer says that they are encoded, or if always.
//
// Errors: ErrTruncated for an answer that is cut, or isn't what S3 promises.
// Source: Amazon S3 API Reference, ListObjectsV2.
func (r *pageReader) decode(b []byte, always bool) (page, error) {
	r.scan = xmlscan.New(b)
	r.raw, r.urlCoding, r.truncated, r.next, r.keyCount = r.raw[:0], always, "", nil, -1
	name, end, empty, err := r.scan.Next()
	if err != nil {
		return page{}, err
	}
	if end || empty || string(name) != "ListBucketResult" {
		return page{}, xmlscan.Broken("begins with <%s>", name)
	}
	for {
		name, end, empty, err := r.scan.Next()
		if err != nil {
			return page{}, err
		}
		if end {
			if string(name) != "ListBucketResult" {
				return page{}, xmlscan.Broken("ends with <%s>", name)
			}
			return r.build()
		}
		if err := r.element(name, empty); err != nil {
			return page{}, err
		}
	}
}

// element reads a child of the root.
func (r *pageReader) element(name []byte, empty bool) (err error) {
	var text []byte
	switch string(name) {
	case "Contents":
		return r.contents(name, empty)
	case "CommonPrefixes":
		return r.prefix(name, empty)
	case "NextContinuationToken":
		r.next, err = r.scan.Text(name, empty)
	case "IsTruncated":
		text, err = r.scan.Text(name, empty)
		r.truncated = string(text)
	case "EncodingType":
		text, err = r.scan.Text(name, empty)
		r.urlCoding = r.urlCoding || string(text) == "url"
	case "KeyCount":
		if text, err = r.scan.Text(name, empty); err == nil {
			if r.keyCount, err = strconv.ParseInt(string(text), 10, 64); err != nil {
				return xmlscan.Broken("KeyCount %q", text)
			}
		}
	default:
		return r.scan.Skip(name, empty)
	}
	return err
}

func (r *pageReader) contents(parent []byte, empty bool) error {
	if !empty && r.alike(parent) {
		return nil
	}
	e := rawEntry{size: -1}
	r.shape = r.shape[:0]
	for !empty {
		name, end, empty, err := r.scan.Next()
		if err != nil {
			return err
		}
		if end {
			if !bytes.Equal(name, parent) {
				return xmlscan.Broken("<Contents> ends as <%s>", name)
			}
			if !e.whole() {
				return xmlscan.Broken("an object without key, size or time")
			}
			r.raw = append(r.raw, e)
			return nil
		}
		f := newField(name)
		r.shape = append(r.shape, f)
		if f.kind == fieldOther {
			err = r.scan.Skip(name, empty)
		} else {
			var text []byte
			if text, err = r.scan.Text(name, empty); err == nil {
				err = r.set(&e, f.kind, text)
			}
		}
		if err != nil {
			return err
		}
	}
	return xmlscan.Broken("an empty entry")
}

func (r *pageReader) prefix(parent []byte, empty bool) error {
	var e rawEntry
	for !empty {
		name, end, empty, err := r.scan.Next()
		switch {
		case err != nil:
			return err
		case end && bytes.Equal(name, parent) && len(e.key) > 0:
			e.prefix, e.size = true, -1
			r.raw = append(r.raw, e)
			return nil
		case end:
			return xmlscan.Broken("<CommonPrefixes> ends as <%s>", name)
		case string(name) == "Prefix":
			if e.key, err = r.scan.Text(name, empty); err != nil {
				return err
			}
		default:
			if err := r.scan.Skip(name, empty); err != nil {
				return err
			}
		}
	}
	return xmlscan.Broken("an empty entry")
}

// build turns the raw entries into a page whose strings share one memory.
func (r *pageReader) build() (page, error) {
	if r.truncated != "true" && r.truncated != "false" {
		return page{}, xmlscan.Broken("IsTruncated is %q", r.truncated)
	}
	p := page{truncated: r.truncated == "true", next: string(r.next)}
	if p.truncated && p.next == "" {
		return page{}, xmlscan.Broken("no token to go on with")
	}
	if r.keyCount >= 0 && r.keyCount != int64(len(r.raw)) {
		return page{}, xmlscan.Broken("%d entries, KeyCount says %d", len(r.raw), r.keyCount)
	}
	total := 0
	for i := range r.raw {
		if r.urlCoding {
			var err error
			if r.raw[i].key, err = unquote(r.raw[i].key); err != nil {
				return page{}, err
			}
		} else if !p.doubtful {
			p.doubtful = bytes.IndexByte(r.raw[i].key, '%') >= 0 || bytes.IndexByte(r.raw[i].key, '+') >= 0
		}
		total += len(r.raw[i].key) + len(r.raw[i].etag)
	}
	var arena strings.Builder
	arena.Grow(total)
	cut := func(b []byte) string {
		arena.Write(b)
		return arena.String()[arena.Len()-len(b):]
	}
	p.entries = make([]store.Info, len(r.raw))
	for i, e := range r.raw {
		info := store.Info{Name: cut(e.key), Size: e.size, Modified: e.modified, ETag: cut(e.etag)}
		if e.prefix {
			info.Kind = store.Dir
		} else if info.Name[len(info.Name)-1] == '/' {
			info.Kind = store.Marker
		}
		if info.Kind != store.File {
			dir, ok := strings.CutSuffix(info.Name, "/")
			if !ok {
				return page{}, xmlscan.Broken("common prefix %q", info.Name)
			}
			info.Name = dir
		}
		p.entries[i] = info
	}
	return p, nil
}

// unquote decodes a key of encoding-type=url, in place: %XX, and '+' for a space.
func unquote(b []byte) ([]byte, error) {
	if bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '+') < 0 {
		return b, nil
	}
	if i := bytes.IndexByte(b, '+'); i >= 0 {
		for ; i < len(b); i++ {
			if b[i] == '+' {
				b[i] = ' '
			}
		}
	}
	out, rest := b[:0], b
	for {
		n := bytes.IndexByte(rest, '%')
		if n < 0 {
			return append(out, rest...), nil
		}
		if n+2 >= len(rest) || unhex(rest[n+1]) > 15 || unhex(rest[n+2]) > 15 {
			return nil, xmlscan.Broken("escape in the key %q", b)
		}
		c := unhex(rest[n+1])<<4 | unhex(rest[n+2])
		out = append(append(out, rest[:n]...), c)
		rest = rest[n+3:]
	}
}

// unhex returns the value of a hexadecimal digit, 255 of other bytes.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10
	}
	return 255
}

func size(b []byte) (int64, error) {
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, xmlscan.Broken("size %q", b)
		}
		n = n*10 + int64(c-'0')
	}
	if len(b) == 0 {
		return 0, xmlscan.Broken("no size")
	}
	return n, nil
}

// time reads "2006-01-02T15:04:05.000Z", the form that S3 writes, and any other
// of RFC 3339.
func (r *pageReader) time(b []byte) (time.Time, error) {
	if len(b) == len("2006-01-02T15:04:05.000Z") && b[10] == 'T' && b[13] == ':' && b[16] == ':' && b[19] == '.' && b[23] == 'Z' {
		h, ok1 := digits(b[11:13])
		m, ok2 := digits(b[14:16])
		s, ok3 := digits(b[17:19])
		ms, ok4 := digits(b[20:23])
		if ok1 && ok2 && ok3 && ok4 && h < 24 && m < 60 && s < 60 {
			if !bytes.Equal(b[:10], r.day[:]) {
				day, err := time.Parse(time.DateOnly, string(b[:10]))
				if err != nil {
					return time.Time{}, xmlscan.Broken("time %q", b)
				}
				copy(r.day[:], b)
				r.date = day.Unix()
			}
			return time.Unix(r.date+int64(h*3600+m*60+s), int64(ms)*1e6).UTC(), nil
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return time.Time{}, xmlscan.Broken("time %q", b)
	}
	return t.UTC(), nil
}

func digits(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
