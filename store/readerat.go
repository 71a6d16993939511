package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	chunkSize  = 1 << 20
	chunksKept = 4
)

// ReaderAt gives random access to one object of a known size, by requests of a
// MiB each. It keeps the last few answers, so that small reads near each other
// cost one request. It is valid as long as the context it was made with. Safe
// for concurrent use; reads that need a request wait for each other.
//
// Memory: 4 MiB.
type ReaderAt struct {
	ctx  context.Context
	r    Reader
	name string
	size int64

	mu     sync.Mutex
	chunks []chunk // the last used first
}

type chunk struct {
	index int64
	data  []byte
}

// NewReaderAt returns a ReaderAt of the object that info describes, of
// info.Size bytes.
func NewReaderAt(ctx context.Context, r Reader, name string, size int64) *ReaderAt {
	return &ReaderAt{ctx: ctx, r: r, name: name, size: size}
}

// Size is the size that the object was said to have.
func (a *ReaderAt) Size() int64 { return a.size }

// ReadAt implements io.ReaderAt. An object that ends before its size is
// ErrTruncated.
func (a *ReaderAt) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s at %d", a.name, off)
	}
	for n < len(p) {
		at := off + int64(n)
		if at >= a.size {
			return n, io.EOF
		}
		data, err := a.chunk(at / chunkSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at%chunkSize:])
	}
	return n, nil
}

func (a *ReaderAt) chunk(index int64) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, c := range a.chunks {
		if c.index == index {
			copy(a.chunks[1:i+1], a.chunks[:i])
			a.chunks[0] = c
			return c.data, nil
		}
	}
	start := index * chunkSize
	data, err := a.fetch(start, min(chunkSize, a.size-start))
	if err != nil {
		return nil, err
	}
	if len(a.chunks) < chunksKept {
		a.chunks = append(a.chunks, chunk{})
	}
	copy(a.chunks[1:], a.chunks)
	a.chunks[0] = chunk{index, data}
	return data, nil
}

func (a *ReaderAt) fetch(off, length int64) (data []byte, err error) {
	rc, err := a.r.Open(a.ctx, a.name, off, length)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := rc.Close(); err == nil {
			err = cerr
		}
	}()
	data = make([]byte, length)
	n, err := io.ReadFull(rc, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("read %s: %d bytes at %d, %d wanted: %w", a.name, n, off, length, ErrTruncated)
	}
	return data, err
}
