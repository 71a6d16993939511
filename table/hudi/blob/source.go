package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lakesweep/lakesweep/store"
)

const (
	wholeSize = 1 << 20   // files up to this size are read in one request
	tailSize  = 128 << 10 // of larger Parquet files is read first
	spanGap   = 256 << 10 // column chunks as near as this are read in one request
	spanSize  = 16 << 20  // at most
	inMemory  = 16 << 20  // larger logs go to a temporary file
)

// source is an object whose bytes are fetched in few requests. What was
// fetched is served from memory. One goroutine may use it.
type source struct {
	ctx   context.Context // of the whole reading: io.ReaderAt has no room for one
	r     store.Reader
	name  string
	size  int64
	spans []span
	bytes int64 // fetched
	err   error // the store's own first error, as opposed to a fault of the content
}

type span struct {
	off  int64
	data []byte
}

func newSource(ctx context.Context, r store.Reader, name string, size int64) *source {
	return &source{ctx: ctx, r: r, name: name, size: size}
}

// fetch keeps the bytes [off, end).
func (s *source) fetch(off, end int64) error {
	if s.at(off, end) != nil {
		return nil
	}
	data := make([]byte, end-off)
	rc, err := s.r.Open(s.ctx, s.name, off, end-off)
	if err == nil {
		_, err = io.ReadFull(rc, data)
		err = errors.Join(err, rc.Close())
	}
	s.bytes += end - off
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("read %s: fewer than %d bytes at %d: %w", s.name, len(data), off, store.ErrTruncated)
	}
	if err != nil {
		s.note(err)
		return err
	}
	s.spans = append(s.spans, span{off, data})
	return nil
}

// at returns the bytes [off, end), nil if they weren't fetched in one piece.
func (s *source) at(off, end int64) []byte {
	for _, have := range s.spans {
		if have.off <= off && off <= end && end <= have.off+int64(len(have.data)) {
			return have.data[off-have.off : end-have.off]
		}
	}
	return nil
}

func (s *source) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

// drop forgets all but the first n spans.
func (s *source) drop(n int) { s.spans = s.spans[:n] }

// ReadAt implements io.ReaderAt. What wasn't fetched yet is.
func (s *source) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), s.size-off)]
	for n < len(p) {
		got := s.copy(p[n:], off+int64(n))
		if got == 0 {
			end := off + int64(len(p))
			for _, have := range s.spans { // the part before a span that is there
				if at := off + int64(n); have.off > at && have.off < end {
					end = have.off
				}
			}
			if err := s.fetch(off+int64(n), end); err != nil {
				return n, err
			}
			continue
		}
		n += got
	}
	return n, nil
}

func (s *source) copy(p []byte, off int64) int {
	for _, have := range s.spans {
		if have.off <= off && off < have.off+int64(len(have.data)) {
			return copy(p, have.data[off-have.off:])
		}
	}
	return 0
}

// fetched reads what a source has fetched and nothing else: a read may be
// short, which readers of streams take.
type fetched struct{ *source }

// ReadAt implements io.ReaderAt, but for short reads without an error.
func (f fetched) ReadAt(p []byte, off int64) (int, error) {
	if n := f.copy(p, off); n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, io.EOF
}

// spool fetches the whole object in one request: into memory, or, if it is
// large, into a temporary file, which done removes.
func spool(ctx context.Context, r store.Reader, name string, size int64) (at io.ReaderAt, done func() error, err error) {
	if size <= inMemory {
		s := newSource(ctx, r, name, size)
		return s, func() error { return nil }, s.fetch(0, size)
	}
	f, err := os.CreateTemp("", "lakesweep-log-*")
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	rc, err := r.Open(ctx, name, 0, size)
	if err == nil {
		var n int64
		n, err = io.Copy(f, rc)
		if err = errors.Join(err, rc.Close()); err == nil && n != size {
			err = fmt.Errorf("read %s: %d bytes of %d: %w", name, n, size, store.ErrTruncated)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return f, done, nil
}
