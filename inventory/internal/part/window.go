package part

import (
	"context"
	"errors"
	"io"
)

// window is an io.ReaderAt over a part that reads ahead: what is asked for and
// up to ahead bytes more, in one request. It fits a reader that moves forward,
// such as that of one column. Not safe for concurrent use.
type window struct {
	ctx   context.Context
	p     *Part
	ahead int64
	limit int64 // reading ahead goes no further
	buf   []byte
	off   int64
}

// NewWindow returns a window over p that reads ahead bytes ahead, up to limit.
func NewWindow(ctx context.Context, p *Part, ahead, limit int64) io.ReaderAt {
	return &window{ctx: ctx, p: p, ahead: ahead, limit: limit}
}

// ReadAt reads from the window, or moves it.
func (w *window) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off >= w.p.Size {
		return 0, io.EOF
	}
	if off < w.off || off+int64(len(b)) > w.off+int64(len(w.buf)) {
		if err := w.move(off, int64(len(b))); err != nil {
			return 0, err
		}
	}
	n := copy(b, w.buf[off-w.off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (w *window) move(off, want int64) (err error) {
	n := max(want, min(w.ahead, w.limit-off))
	n = min(n, w.p.Size-off)
	body, err := w.p.Reader.Open(w.ctx, w.p.Name, off, n)
	if err != nil {
		return w.p.Opening(err)
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if int64(cap(w.buf)) < n {
		w.buf = make([]byte, n)
	}
	w.buf = w.buf[:n]
	w.off = off
	if _, err := io.ReadFull(body, w.buf); err != nil {
		w.buf = w.buf[:0]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = io.ErrUnexpectedEOF
		}
		return w.p.Damaged(err)
	}
	return nil
}
