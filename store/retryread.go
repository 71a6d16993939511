package store

import (
	"context"
	"errors"
	"io"
)

func (r *retry) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	b := &body{ctx: ctx, retry: r, name: name, offset: offset, length: length}
	if err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

// body reads an object and opens it again where it broke.
type body struct {
	ctx    context.Context
	retry  *retry
	name   string
	offset int64
	length int64 // -1 to the end
	r      io.ReadCloser
	etag   string
	begun  bool // bytes were handed out
	broken int  // times in a row without a byte in between
}

func (b *body) open() error {
	return b.retry.do(b.ctx, func(int) (err error) {
		b.r, err = b.retry.s.Open(b.ctx, b.name, b.offset, b.length)
		return err
	})
}

// ETag tells which object the bytes are of. A body that has none can't go on
// where it broke.
func (b *body) ETag() string { return etagOf(b.r) }

// Read hands on what the store gives. Errors other than io.EOF end it for good
// once the attempts are used up, or when the object was replaced since.
func (b *body) Read(p []byte) (int, error) {
	if !b.begun {
		b.etag = b.ETag()
	}
	for {
		n, err := b.r.Read(p)
		if n > 0 {
			b.begun, b.broken = true, 0
			b.offset += int64(n)
			if b.length >= 0 {
				b.length -= int64(n)
			}
		}
		if n > 0 && Retryable(err) {
			return n, nil // the next Read meets the break again
		}
		if !Retryable(err) {
			return n, err
		}
		if err := b.again(err); err != nil {
			return 0, err
		}
	}
}

// again opens the rest of the object after the error cause.
func (b *body) again(cause error) error {
	b.broken++
	if b.broken >= b.retry.opt.Attempts || b.begun && b.etag == "" {
		return cause
	}
	if err := b.r.Close(); err != nil && !Retryable(err) {
		return errors.Join(cause, err)
	}
	b.r = io.NopCloser(errReader{cause})
	if err := b.retry.pause(b.ctx, b.broken); err != nil {
		return errors.Join(cause, err)
	}
	if err := b.open(); err != nil {
		b.r = io.NopCloser(errReader{err})
		return err
	}
	if b.begun && b.ETag() != b.etag {
		return ErrChanged
	}
	b.etag = b.ETag()
	return nil
}

func (b *body) Close() error { return b.r.Close() }

// errReader fails every Read.
type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }
