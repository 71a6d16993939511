package delta

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
)

const (
	chunkSize = 1 << 20  // bytes of a commit in memory at once, more only for a longer line
	maxLine   = 1 << 30  // bytes of a line
	cacheSize = 16 << 20 // bytes of commits kept between Open and Protect
	headSize  = 64 << 10 // bytes of a long commit that Open reads of a brief reading
)

// logDir is the folder of a log. Safe for concurrent use.
type logDir struct {
	r      store.Reader
	wished int // files read at once; 0 chooses for the store
	bodies bodies
	chunks sync.Pool // of *[]byte, chunkSize long

	mu    sync.Mutex
	brief bool           // firstLines reads only the beginning of long commits
	begun map[int64]bool // commits of which only the beginning was read
}

// newLogDir returns the log of the table at r. wished is how many of its files
// are read at once, 0 chooses for the store; brief makes firstLines read only
// the beginning of long commits.
func newLogDir(r store.Reader, wished int, brief bool) *logDir {
	return &logDir{r: r, wished: wished, brief: brief, begun: map[int64]bool{}, bodies: bodies{data: map[string][]byte{}, left: cacheSize}}
}

// workers is how many files of the log are read at once.
func (d *logDir) workers() int { return workersFor(d.r, d.wished) }

// workersFor is how many files of r are read at once where wished is 0.
func workersFor(r store.Reader, wished int) int {
	if wished > 0 {
		return wished
	}
	if tr := r.Traits(); tr.Directories && tr.NamesFirst { // a local disk: the processors are the limit
		return max(runtime.GOMAXPROCS(0), 2)
	}
	return 32
}

// begunOnly reports whether only the beginning of a commit was read.
func (d *logDir) begunOnly(version int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun[version]
}

// begunCommits returns the commits of which only the beginning was read.
func (d *logDir) begunCommits() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.begun))
}

// whole makes firstLines read whole commits from now on.
func (d *logDir) whole() {
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

func (b *bodies) put(name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(len(body)) <= b.left {
		b.data[name] = bytes.Clone(body)
		b.left -= int64(len(body))
	}
}

// readAll reads a small file of the log whole.
func (d *logDir) readAll(ctx context.Context, f logFile) ([]byte, error) {
	if body := d.bodies.get(f.name); body != nil {
		return body, nil
	}
	rc, err := d.r.Open(ctx, f.name, 0, -1)
	if err != nil {
		return nil, readError(f.name, err)
	}
	defer rc.Close()
	body, err := io.ReadAll(io.LimitReader(rc, f.size+1))
	if err != nil {
		return nil, readError(f.name, err)
	}
	if int64(len(body)) != f.size {
		return nil, damaged(f.name, fmt.Errorf("%d bytes where the listing says %d", len(body), f.size))
	}
	return body, nil
}

// lines calls fn with each line of f that isn't blank. A line is valid until
// fn returns. A file without any line, or with fewer or more bytes than the
// listing says, is Damaged.
func (d *logDir) lines(ctx context.Context, f logFile, fn func(line []byte) error) error {
	if f.size <= chunkSize {
		body, err := d.readAll(ctx, f)
		if err != nil {
			return err
		}
		d.bodies.put(f.name, body)
		n := 0
		for line := range bytes.Lines(body) {
			if err := oneLine(f, line, &n, fn); err != nil {
				return err
			}
		}
		return anyLine(f, n)
	}
	rc, err := d.r.Open(ctx, f.name, 0, -1)
	if err != nil {
		return readError(f.name, err)
	}
	defer rc.Close()
	chunk, _ := d.chunks.Get().(*[]byte)
	if chunk == nil {
		chunk = new(make([]byte, chunkSize))
	}
	defer d.chunks.Put(chunk)
	buf, n, total := (*chunk)[:0], 0, int64(0)
	for {
		got, err := rc.Read(buf[len(buf):cap(buf)])
		buf, total = buf[:len(buf)+got], total+int64(got)
		if err != nil && !errors.Is(err, io.EOF) {
			return readError(f.name, err)
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

// firstLines is lines, or of a brief reading calls fn with those at the
// beginning of a file too long to be kept, and notes that there are more. It
// reads on where it stopped at another line than a file's.
func (d *logDir) firstLines(ctx context.Context, f logFile, fn func(line []byte) error) error {
	if !d.brief || f.size <= chunkSize {
		return d.lines(ctx, f, fn)
	}
	buf := make([]byte, headSize)
	rc, err := d.r.Open(ctx, f.name, 0, headSize)
	if err != nil {
		return readError(f.name, err)
	}
	_, err = io.ReadFull(rc, buf)
	switch closeErr := rc.Close(); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return damaged(f.name, fmt.Errorf("it ends before %d bytes where the listing says %d", headSize, f.size))
	case err != nil:
		return readError(f.name, err)
	case closeErr != nil:
		return readError(f.name, closeErr)
	}
	cut := bytes.LastIndexByte(buf, '\n') + 1
	if rest := bytes.TrimLeft(buf[cut:], " \t\r"); len(rest) > len(`{"remove":`) && !isFileLine(rest) {
		return d.lines(ctx, f, fn)
	}
	d.mu.Lock()
	d.begun[f.version] = true
	d.mu.Unlock()
	n := 0
	for line := range bytes.Lines(buf[:cut]) {
		if err := oneLine(f, line, &n, fn); err != nil {
			return err
		}
	}
	return nil
}

// isFileLine reports whether a line begins as most lines do: as an add, remove
// or cdc. Protect reads those in full, and refuses a second action in them.
func isFileLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"add":`)) || bytes.HasPrefix(line, []byte(`{"remove":`)) || bytes.HasPrefix(line, []byte(`{"cdc":`))
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
