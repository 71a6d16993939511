package delta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
)

const (
	chunkSize = 1 << 20  // bytes of a commit in memory at once, more only for a longer line
	maxLine   = 1 << 30  // bytes of a line
	cacheSize = 16 << 20 // bytes of commits kept between Open and Protect
	headSize  = 64 << 10 // bytes of a long commit that Open reads with Options.Brief
)

// bodies keeps small files of the log from the first reading to the second.
type bodies struct {
	mu   sync.Mutex
	data map[string][]byte
	left int64
}

func (b *bodies) get(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data[name]
}

func (b *bodies) put(name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(len(body)) <= b.left {
		b.data[name] = bytes.Clone(body)
		b.left -= int64(len(body))
	}
}

// readAll reads a small file of the log whole.
func (t *Table) readAll(ctx context.Context, f logFile) ([]byte, error) {
	if body := t.bodies.get(f.name); body != nil {
		return body, nil
	}
	rc, err := t.r.Open(ctx, f.name, 0, -1)
	if err != nil {
		return nil, readError(f, err)
	}
	defer rc.Close()
	body, err := io.ReadAll(io.LimitReader(rc, f.size+1))
	if err != nil {
		return nil, readError(f, err)
	}
	if int64(len(body)) != f.size {
		return nil, damaged(f.name, fmt.Errorf("%d bytes where the listing says %d", len(body), f.size))
	}
	return body, nil
}

func readError(f logFile, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(f.name, err)
	}
	return &lake.Error{Op: "read log", Key: lake.Key(f.name), Kind: kindOf(err), Err: err}
}

// chunks are buffers of chunkSize bytes.
var chunks = sync.Pool{New: func() any { b := make([]byte, chunkSize); return &b }}

// lines calls fn with each line of f that isn't blank. A line is valid until
// fn returns. A file without any line, or with fewer or more bytes than the
// listing says, is Damaged.
func (t *Table) lines(ctx context.Context, f logFile, fn func(line []byte) error) error {
	if f.size <= chunkSize {
		body, err := t.readAll(ctx, f)
		if err != nil {
			return err
		}
		t.bodies.put(f.name, body)
		n := 0
		for line := range bytes.Lines(body) {
			if err := oneLine(f, line, &n, fn); err != nil {
				return err
			}
		}
		return anyLine(f, n)
	}
	rc, err := t.r.Open(ctx, f.name, 0, -1)
	if err != nil {
		return readError(f, err)
	}
	defer rc.Close()
	chunk := chunks.Get().(*[]byte)
	defer chunks.Put(chunk)
	buf, n, total := (*chunk)[:0], 0, int64(0)
	for {
		got, err := rc.Read(buf[len(buf):cap(buf)])
		buf, total = buf[:len(buf)+got], total+int64(got)
		if err != nil && !errors.Is(err, io.EOF) {
			return readError(f, err)
		}
		ended := err != nil
		for len(buf) > 0 && (ended || len(buf) == cap(buf)) {
			cut := bytes.LastIndexByte(buf, '\n') + 1
			if ended {
				cut = len(buf)
			} else if cut == 0 {
				break
			}
			for line := range bytes.Lines(buf[:cut]) {
				if err := oneLine(f, line, &n, fn); err != nil {
					return err
				}
			}
			buf = buf[:copy(buf, buf[cut:])]
		}
		if ended {
			break
		}
		if len(buf) == cap(buf) { // one line fills it
			if len(buf) >= maxLine {
				return damaged(f.name, errors.New("a line of over a gigabyte"))
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
	if total != f.size {
		return damaged(f.name, fmt.Errorf("%d bytes where the listing says %d", total, f.size))
	}
	return anyLine(f, n)
}

// firstLines is lines, or with Options.Brief calls fn with those at the
// beginning of a file too long to be kept, and notes that there are more. It
// reads on where it stopped at another line than a file's.
func (t *Table) firstLines(ctx context.Context, f logFile, fn func(line []byte) error) error {
	if !t.o.Brief || f.size <= chunkSize {
		return t.lines(ctx, f, fn)
	}
	buf := make([]byte, headSize)
	rc, err := t.r.Open(ctx, f.name, 0, headSize)
	if err != nil {
		return readError(f, err)
	}
	_, err = io.ReadFull(rc, buf)
	switch closeErr := rc.Close(); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return damaged(f.name, fmt.Errorf("it ends before %d bytes where the listing says %d", headSize, f.size))
	case err != nil:
		return readError(f, err)
	case closeErr != nil:
		return readError(f, closeErr)
	}
	cut := bytes.LastIndexByte(buf, '\n') + 1
	if rest := bytes.TrimLeft(buf[cut:], " \t\r"); len(rest) > len(`{"remove":`) && !isFileLine(rest) {
		return t.lines(ctx, f, fn)
	}
	t.mu.Lock()
	t.begun[f.version] = true
	t.mu.Unlock()
	n := 0
	for line := range bytes.Lines(buf[:cut]) {
		if err := oneLine(f, line, &n, fn); err != nil {
			return err
		}
	}
	return nil
}

func oneLine(f logFile, line []byte, n *int, fn func([]byte) error) error {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	*n++
	if err := fn(line); err != nil {
		var e *lake.Error
		if errors.As(err, &e) {
			return err
		}
		return damaged(f.name, fmt.Errorf("line %d: %w", *n, err))
	}
	return nil
}

func anyLine(f logFile, n int) error {
	if n == 0 {
		return damaged(f.name, errors.New("nothing but white space in it"))
	}
	return nil
}
