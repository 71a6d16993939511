package delta

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/lakesweep/lakesweep/store"
)

// rangeReader is an io.ReaderAt over the bytes [.., end) of an object that
// keeps one ranged read open and serves reads that follow each other from it:
// one request for a whole column chunk. One goroutine may use it.
type rangeReader struct {
	ctx  context.Context
	r    store.Reader
	name string
	end  int64
	body io.ReadCloser
	pos  int64 // of body
	err  error // the store's own first error, as opposed to a fault of the content
}

func (f *rangeReader) ReadAt(p []byte, off int64) (int, error) {
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
	if f.body == nil || f.pos != off {
		f.Close()
		body, err := f.r.Open(f.ctx, f.name, off, f.end-off)
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

func (f *rangeReader) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Close ends the read that is open.
func (f *rangeReader) Close() {
	if f.body != nil {
		f.body.Close() // reading only: nothing can be lost
		f.body = nil
	}
}

// fault tells what an error of the Parquet reader over f means: the store's
// failure, or a corrupt checkpoint.
func (f *rangeReader) fault(err error) error {
	if f.err != nil && !errors.Is(f.err, fs.ErrNotExist) {
		return readError(logFile{name: f.name}, f.err)
	}
	return corrupt(f.name, err)
}
