package s3

import "bytes"

// fieldKind is what a child of an object is to us.
type fieldKind uint8

const (
	fieldOther fieldKind = iota
	fieldKey
	fieldETag
	fieldSize
	fieldModified
)

func kindOf(name []byte) fieldKind {
	switch string(name) {
	case "Key":
		return fieldKey
	case "ETag":
		return fieldETag
	case "Size":
		return fieldSize
	case "LastModified":
		return fieldModified
	}
	return fieldOther
}

// field is a child of an object as servers write it: nothing in the tags but
// the name.
type field struct {
	open, end string
	kind      fieldKind
}

func newField(name []byte) field {
	return field{"<" + string(name) + ">", "</" + string(name) + ">", kindOf(name)}
}

// set takes the text of a child.
func (r *pageReader) set(e *rawEntry, k fieldKind, text []byte) (err error) {
	switch k {
	case fieldKey:
		e.key = text
	case fieldETag:
		e.etag = text
	case fieldSize:
		e.size, err = size(text)
	case fieldModified:
		e.modified, err = r.time(text)
	}
	return err
}

// alike reads an object that has the same children as the one before, one
// after the other, with plain text in them: as they nearly all are. Of another
// one it reads nothing and returns false, and the scanner looks closely.
func (r *pageReader) alike(parent []byte) bool {
	if len(r.raw) == 0 {
		return false // the shape is another answer's
	}
	e := rawEntry{size: -1}
	b, at, quoted := r.scan.Rest(), 0, false
	for i := range r.shape {
		f := &r.shape[i]
		if !bytes.HasPrefix(b[at:], []byte(f.open)) {
			return false
		}
		at += len(f.open)
		n := bytes.IndexByte(b[at:], '<')
		if n < 0 || !bytes.HasPrefix(b[at+n:], []byte(f.end)) {
			return false
		}
		text := b[at : at+n]
		at += n + len(f.end)
		if f.kind == fieldOther {
			continue
		}
		if f.kind == fieldETag && quotedETag(text) {
			quoted, e.etag = true, text
			continue
		}
		if bytes.IndexByte(text, '&') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
			return false
		}
		if r.set(&e, f.kind, text) != nil {
			return false
		}
	}
	end := len("</>") + len(parent)
	if len(b)-at < end || b[at] != '<' || b[at+1] != '/' || !bytes.Equal(b[at+2:at+end-1], parent) || b[at+end-1] != '>' || !e.whole() {
		return false
	}
	if quoted {
		from, to := len(quot)-1, len(e.etag)-len(quot)
		e.etag[from], e.etag[to] = '"', '"'
		e.etag = e.etag[from : to+1]
	}
	r.raw = append(r.raw, e)
	r.scan.Advance(at + end)
	return true
}

const quot = "&quot;"

// quotedETag reports whether an ETag's text is quoted by entities, and holds no others.
func quotedETag(text []byte) bool {
	if len(text) < 2*len(quot) || !bytes.HasPrefix(text, []byte(quot)) || !bytes.HasSuffix(text, []byte(quot)) {
		return false
	}
	inside := text[len(quot) : len(text)-len(quot)]
	return bytes.IndexByte(inside, '&') < 0 && bytes.IndexByte(inside, '\r') < 0
}

// whole reports whether an object has all that it must have.
func (e *rawEntry) whole() bool { return len(e.key) > 0 && e.size >= 0 && !e.modified.IsZero() }
