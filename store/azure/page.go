package azure

import (
	"bytes"
	"net/url"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/store/internal/xmlscan"
)

// page is what we need of a List Blobs answer.
type page struct {
	entries []entry
	next    string
}

// entry is a blob, or with prefix a folded directory (its name ends with '/').
type entry struct {
	name              string
	prefix            bool
	directory         bool // a directory's placeholder, or a directory of a hierarchical account
	created, modified time.Time
	etag              string
	size              int64 // -1 if unknown
	version           string
	current           bool
	snapshot          string
}

// reader decodes answers. It can be used again, by one goroutine at a time.
type reader struct {
	scan    xmlscan.Scanner
	raw     []rawEntry
	next    []byte
	hasNext bool

	text []byte // of the time before
	time time.Time
}

// rawEntry is an entry whose strings still lie in the answer's bytes.
type rawEntry struct {
	entry
	name, etag, version, snapshot []byte
	encoded                       bool
}

// decode reads the answer b, which it overwrites. The page holds no part of b.
//
// Errors: ErrTruncated for an answer that is cut, or isn't what the service promises.
// Source: Azure Blob Storage REST API, "List Blobs".
func (r *reader) decode(b []byte) (page, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	r.scan, r.raw, r.next, r.hasNext = xmlscan.New(b), r.raw[:0], nil, false
	name, end, empty, err := r.scan.Next()
	if err != nil {
		return page{}, err
	}
	if end || empty || string(name) != "EnumerationResults" {
		return page{}, xmlscan.Broken("begins with <%s>", name)
	}
	err = r.children(name, func(name []byte, empty bool) (err error) {
		switch string(name) {
		case "Blobs":
			return r.children2(name, empty, r.blob)
		case "NextMarker":
			r.hasNext = true
			r.next, err = r.scan.Text(name, empty)
			return err
		}
		return r.scan.Skip(name, empty)
	})
	if err != nil {
		return page{}, err
	}
	return r.build()
}

// children calls f for each element within parent, to its closing tag.
func (r *reader) children(parent []byte, f func(name []byte, empty bool) error) error {
	for {
		name, end, empty, err := r.scan.Next()
		switch {
		case err != nil:
			return err
		case end && bytes.Equal(name, parent):
			return nil
		case end:
			return xmlscan.Broken("<%s> ends as <%s>", parent, name)
		}
		if err := f(name, empty); err != nil {
			return err
		}
	}
}

// children2 is children of an element that may be empty.
func (r *reader) children2(parent []byte, empty bool, f func(name []byte, empty bool) error) error {
	if empty {
		return nil
	}
	return r.children(parent, f)
}

func (r *reader) blob(name []byte, empty bool) error {
	kind := string(name)
	if kind != "Blob" && kind != "BlobPrefix" {
		return r.scan.Skip(name, empty)
	}
	e := rawEntry{entry: entry{size: -1, prefix: kind == "BlobPrefix"}}
	err := r.children2(name, empty, func(name []byte, empty bool) (err error) {
		switch string(name) {
		case "Name":
			e.encoded = bytes.Contains(r.scan.Attributes(), []byte(`Encoded="true"`))
			e.name, err = r.scan.Text(name, empty)
		case "VersionId":
			e.version, err = r.scan.Text(name, empty)
		case "Snapshot":
			e.snapshot, err = r.scan.Text(name, empty)
		case "IsCurrentVersion":
			e.current, err = r.isTrue(name, empty)
		case "Properties":
			err = r.children2(name, empty, func(name []byte, empty bool) error { return r.property(&e, name, empty) })
		case "Metadata":
			err = r.children2(name, empty, func(name []byte, empty bool) error {
				if !strings.EqualFold(string(name), "hdi_isfolder") {
					return r.scan.Skip(name, empty)
				}
				on, err := r.isTrue(name, empty)
				e.directory = e.directory || on
				return err
			})
		default:
			err = r.scan.Skip(name, empty)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(e.name) == 0 || !e.prefix && (e.size < 0 && !e.directory || e.modified.IsZero()) {
		return xmlscan.Broken("a blob without name, size or time")
	}
	r.raw = append(r.raw, e)
	return nil
}

func (r *reader) property(e *rawEntry, name []byte, empty bool) (err error) {
	var text []byte
	switch string(name) {
	case "Etag":
		e.etag, err = r.scan.Text(name, empty)
	case "Content-Length":
		if text, err = r.scan.Text(name, empty); err == nil && len(text) > 0 {
			e.size, err = size(text)
		}
	case "Creation-Time":
		e.created, err = r.date(name, empty)
	case "Last-Modified":
		e.modified, err = r.date(name, empty)
	case "ResourceType":
		text, err = r.scan.Text(name, empty)
		e.directory = e.directory || string(text) == "directory"
	default:
		err = r.scan.Skip(name, empty)
	}
	return err
}

func (r *reader) isTrue(name []byte, empty bool) (bool, error) {
	text, err := r.scan.Text(name, empty)
	return strings.EqualFold(string(text), "true"), err
}

// date reads "Mon, 02 Jan 2006 15:04:05 GMT". Neighbours often have the same.
func (r *reader) date(name []byte, empty bool) (time.Time, error) {
	text, err := r.scan.Text(name, empty)
	if err != nil || len(text) == 0 {
		return time.Time{}, err
	}
	if !bytes.Equal(text, r.text) {
		t, err := time.Parse(time.RFC1123, string(text))
		if err != nil {
			return time.Time{}, xmlscan.Broken("time %q", text)
		}
		r.text, r.time = append(r.text[:0], text...), t.UTC()
	}
	return r.time, nil
}

func size(b []byte) (int64, error) {
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, xmlscan.Broken("size %q", b)
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil
}

// build turns the raw entries into a page whose strings share one memory.
func (r *reader) build() (page, error) {
	if !r.hasNext {
		return page{}, xmlscan.Broken("no NextMarker")
	}
	total := 0
	for _, e := range r.raw {
		total += len(e.name) + len(e.etag) + len(e.version) + len(e.snapshot)
	}
	var arena strings.Builder
	arena.Grow(total)
	cut := func(b []byte) string {
		arena.Write(b)
		return arena.String()[arena.Len()-len(b):]
	}
	p := page{next: string(r.next), entries: make([]entry, len(r.raw))}
	for i, e := range r.raw {
		e.entry.name, e.entry.etag, e.entry.version, e.entry.snapshot = cut(e.name), cut(e.etag), cut(e.version), cut(e.snapshot)
		if e.encoded {
			name, err := url.PathUnescape(e.entry.name)
			if err != nil {
				return page{}, xmlscan.Broken("escape in the name %q", e.entry.name)
			}
			e.entry.name = name
		}
		p.entries[i] = e.entry
	}
	return p, nil
}
