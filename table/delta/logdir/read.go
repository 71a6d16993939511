package logdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
)

const (
	ChunkSize = 1 << 20  // bytes of a commit in memory at once, more only for a longer line
	maxLine   = 1 << 30  // bytes of a line
	cacheSize = 16 << 20 // bytes of commits kept between Open and Protect
	headSize  = 64 << 10 // bytes of a long commit that Open reads of a brief reading
)

// Dir is the folder of a log. Safe for concurrent use.
type Dir struct {
	Store  store.Reader
	Wished int // files read at once; 0 chooses for the store
	bodies bodies
	chunks sync.Pool // of *[]byte, ChunkSize long

	mu    sync.Mutex
	brief bool           // FirstLines reads only the beginning of long commits
	begun map[int64]bool // commits of which only the beginning was read
}

// New returns the log of the table at r. wished is how many of its files
// are read at once, 0 chooses for the store; brief makes FirstLines read only
// the beginning of long commits.
func New(r store.Reader, wished int, brief bool) *Dir {
	return &Dir{Store: r, Wished: wished, brief: brief, begun: map[int64]bool{}, bodies: bodies{data: map[string][]byte{}, left: cacheSize}}
}

// Workers is how many files of the log are read at once.
func (d *Dir) Workers() int { return WorkersFor(d.Store, d.Wished) }

// WorkersFor is how many files of r are read at once where wished is 0.
func WorkersFor(r store.Reader, wished int) int {
	if wished > 0 {
		return wished
	}
	if tr := r.Traits(); tr.Directories && tr.NamesFirst { // a local disk: the processors are the limit
		return max(runtime.GOMAXPROCS(0), 2)
	}
	return 32
}

// BegunOnly reports whether only the beginning of a commit was read.
func (d *Dir) BegunOnly(version int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun[version]
}

// BegunCommits returns the commits of which only the beginning was read.
func (d *Dir) BegunCommits() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.begun))
}

// Whole makes FirstLines read whole commits from now on.
func (d *Dir) Whole() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.brief = false
	clear(d.begun)
}

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

// put keeps a body if there is room for it and it isn't kept already.
func (b *bodies) put(name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, have := b.data[name]; !have && int64(len(body)) <= b.left {
		b.data[name] = bytes.Clone(body)
		b.left -= int64(len(body))
	}
}

// ReadAll reads a small file of the log whole.
func (d *Dir) ReadAll(ctx context.Context, f File) ([]byte, error) {
	if body := d.bodies.get(f.Name); body != nil {
		return body, nil
	}
	rc, err := d.Store.Open(ctx, f.Name, 0, -1)
	if err != nil {
		return nil, logfault.ReadError(f.Name, err)
	}
	defer rc.Close()
	body, err := io.ReadAll(io.LimitReader(rc, f.Size+1))
	if err != nil {
		return nil, logfault.ReadError(f.Name, err)
	}
	if int64(len(body)) != f.Size {
		return nil, logfault.Damaged(f.Name, fmt.Errorf("%d bytes where the listing says %d", len(body), f.Size))
	}
	return body, nil
}

// Lines calls fn with each line of f that isn't blank. A line is valid until
// fn returns. A file without any line, or with fewer or more bytes than the
// listing says, is Damaged.
func (d *Dir) Lines(ctx context.Context, f File, fn func(line []byte) error) error {
	if f.Size <= ChunkSize {
		body, err := d.ReadAll(ctx, f)
		if err != nil {
			return err
		}
		d.bodies.put(f.Name, body)
		n := 0
		for line := range bytes.Lines(body) {
			if err := oneLine(f, line, &n, fn); err != nil {
				return err
			}
		}
		return anyLine(f, n)
	}
	rc, err := d.Store.Open(ctx, f.Name, 0, -1)
	if err != nil {
		return logfault.ReadError(f.Name, err)
	}
	defer rc.Close()
	chunk, _ := d.chunks.Get().(*[]byte)
	if chunk == nil {
		chunk = new(make([]byte, ChunkSize))
	}
	defer d.chunks.Put(chunk)
	buf, n, total := (*chunk)[:0], 0, int64(0)
	for {
		got, err := rc.Read(buf[len(buf):cap(buf)])
		buf, total = buf[:len(buf)+got], total+int64(got)
		if err != nil && !errors.Is(err, io.EOF) {
			return logfault.ReadError(f.Name, err)
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
				return logfault.Damaged(f.Name, errors.New("a line of over a gigabyte"))
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
	if total != f.Size {
		return logfault.Damaged(f.Name, fmt.Errorf("%d bytes where the listing says %d", total, f.Size))
	}
	return anyLine(f, n)
}

// FirstLines is Lines, or of a brief reading calls fn with those at the
// beginning of a file too long to be kept, and notes that there are more. It
// reads on where it stopped at another line than a file's.
func (d *Dir) FirstLines(ctx context.Context, f File, fn func(line []byte) error) error {
	if !d.brief || f.Size <= ChunkSize {
		return d.Lines(ctx, f, fn)
	}
	buf := make([]byte, headSize)
	rc, err := d.Store.Open(ctx, f.Name, 0, headSize)
	if err != nil {
		return logfault.ReadError(f.Name, err)
	}
	_, err = io.ReadFull(rc, buf)
	switch closeErr := rc.Close(); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return logfault.Damaged(f.Name, fmt.Errorf("it ends before %d bytes where the listing says %d", headSize, f.Size))
	case err != nil:
		return logfault.ReadError(f.Name, err)
	case closeErr != nil:
		return logfault.ReadError(f.Name, closeErr)
	}
	cut := bytes.LastIndexByte(buf, '\n') + 1
	if rest := bytes.TrimLeft(buf[cut:], " \t\r"); len(rest) > len(`{"remove":`) && !IsFileLine(rest) {
		return d.Lines(ctx, f, fn)
	}
	d.mu.Lock()
	d.begun[f.Version] = true
	d.mu.Unlock()
	n := 0
	for line := range bytes.Lines(buf[:cut]) {
		if err := oneLine(f, line, &n, fn); err != nil {
			return err
		}
	}
	return nil
}

// IsFileLine reports whether a line begins as most lines do: as an add, remove
// or cdc. Protect reads those in full, and refuses a second action in them.
func IsFileLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"add":`)) || bytes.HasPrefix(line, []byte(`{"remove":`)) || bytes.HasPrefix(line, []byte(`{"cdc":`))
}

func oneLine(f File, line []byte, n *int, fn func([]byte) error) error {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	*n++
	if err := fn(line); err != nil {
		var e *lake.Error
		if errors.As(err, &e) {
			return err
		}
		return logfault.Damaged(f.Name, fmt.Errorf("line %d: %w", *n, err))
	}
	return nil
}

func anyLine(f File, n int) error {
	if n == 0 {
		return logfault.Damaged(f.Name, errors.New("nothing but white space in it"))
	}
	return nil
}
