package leaf

import (
	"context"
	"errors"
	"io"

	"github.com/lakesweep/lakesweep/store"
)

// Range is an io.ReaderAt over the bytes [.., end) of an object that
// keeps one ranged read open and serves reads that follow each other from it:
// one request for a whole column chunk. One goroutine may use it.
type Range struct {
	Name string
	Err  error // the store's own first error, as opposed to a fault of the content

	ctx  context.Context // of the whole reading: io.ReaderAt has no room for one
	r    store.Reader
	end  int64
	body io.ReadCloser
	pos  int64 // of body

	held   []byte // bytes of the object that were read before
	heldAt int64
}

// NewRange returns a Range over the object name of r, up to the byte before end.
func NewRange(ctx context.Context, r store.Reader, name string, end int64) *Range {
	return &Range{Name: name, ctx: ctx, r: r, end: end}
}

// Hold gives the Range bytes of the object from off on, which cost no request
// any more. They aren't changed.
func (f *Range) Hold(held []byte, off int64) { f.held, f.heldAt = held, off }

// ReadAt reads from the place where the last read ended without a new request.
func (f *Range) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("the file is too short")
	}
	if off >= f.end {
		return 0, io.EOF
	}
	short := int64(len(p)) > f.end-off
	if short {
		p = p[:f.end-off]
	}
	if from := off - f.heldAt; from >= 0 && from+int64(len(p)) <= int64(len(f.held)) {
		n := copy(p, f.held[from:])
		if short {
			return n, io.EOF
		}
		return n, nil
	}
	if f.body == nil || f.pos != off {
		f.Close()
		body, err := f.r.Open(f.ctx, f.Name, off, f.end-off)
		if err != nil {
			f.note(err)
			return 0, err
		}
		f.body, f.pos = body, off
	}
	n, err := io.ReadFull(f.body, p)
	f.pos += int64(n)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.ErrUnexpectedEOF // the object is shorter than it was
	case err != nil:
		f.note(err)
		return n, err
	case short:
		return n, io.EOF
	}
	return n, nil
}

// Begin opens the read of the bytes from off on, unless they are held, before
// they are asked for. What goes wrong shows when they are.
func (f *Range) Begin(off int64) {
	if from := off - f.heldAt; f.body != nil || off < 0 || off >= f.end || from >= 0 && from < int64(len(f.held)) {
		return
	}
	if body, err := f.r.Open(f.ctx, f.Name, off, f.end-off); err == nil {
		f.body, f.pos = body, off
	}
}

func (f *Range) note(err error) {
	if f.Err == nil {
		f.Err = err
	}
}

// Close ends the read that is open.
func (f *Range) Close() {
	if f.body != nil {
		f.body.Close() // reading only: nothing can be lost
		f.body = nil
	}
}
