package report

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// sorter puts any number of paths into byte order. It holds at most
// sorterMemory bytes of them; more go to a temporary file as sorted runs.
type sorter struct {
	end    byte // what ends a path: a line break or NUL
	memory int  // 0: sorterMemory
	text   []byte
	ends   []int // of each path in text, its end mark included
	file   *os.File
	runs   []run
	size   int64 // of file
}

const sorterMemory = 64 << 20

// run is a sorted part of the temporary file.
type run struct{ offset, length int64 }

// add takes one path.
//
// Errors: Invalid for a path that holds the end mark itself.
func (s *sorter) add(path string) error {
	if strings.IndexByte(path, s.end) >= 0 {
		return &lake.Error{Op: "list paths", Key: lake.Key(path), Kind: lake.Invalid,
			Err:  errors.New("the path holds a line break, so a list of lines would be ambiguous"),
			Hint: "Use -0, or -o jsonl."}
	}
	limit := s.memory
	if limit == 0 {
		limit = sorterMemory
	}
	if len(s.text)+8*len(s.ends)+len(path) > limit && len(s.ends) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.text = append(append(s.text, path...), s.end)
	s.ends = append(s.ends, len(s.text))
	return nil
}

// sorted returns the paths in memory, each with its end mark, in byte order.
func (s *sorter) sorted() [][]byte {
	paths := make([][]byte, len(s.ends))
	start := 0
	for i, end := range s.ends {
		paths[i] = s.text[start:end]
		start = end
	}
	slices.SortFunc(paths, s.compare)
	return paths
}

// compare orders by the path alone: the end mark must not weigh.
func (s *sorter) compare(a, b []byte) int { return bytes.Compare(a[:len(a)-1], b[:len(b)-1]) }

func (s *sorter) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "lakesweep-paths-*")
		if err != nil {
			return spillError(err)
		}
		s.file = f
	}
	w := bufio.NewWriterSize(s.file, 1<<20)
	start := s.size
	for _, p := range s.sorted() {
		if _, err := w.Write(p); err != nil {
			return spillError(err)
		}
		s.size += int64(len(p))
	}
	if err := w.Flush(); err != nil {
		return spillError(err)
	}
	s.runs = append(s.runs, run{start, s.size - start})
	s.text, s.ends = s.text[:0], s.ends[:0]
	return nil
}

// writeTo writes all paths in order.
func (s *sorter) writeTo(w io.Writer) error {
	if s.file == nil {
		for _, p := range s.sorted() {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	m := merge{compare: s.compare}
	for _, r := range s.runs {
		src := &source{r: bufio.NewReaderSize(io.NewSectionReader(s.file, r.offset, r.length), 256<<10)}
		if ok, err := src.next(s.end); err != nil {
			return err
		} else if ok {
			m.sources = append(m.sources, src)
		}
	}
	heap.Init(&m)
	for len(m.sources) > 0 {
		first := m.sources[0]
		if _, err := w.Write(first.path); err != nil {
			return err
		}
		ok, err := first.next(s.end)
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(&m, 0)
		default:
			heap.Pop(&m)
		}
	}
	return nil
}

// close removes the temporary file.
func (s *sorter) close() {
	if s.file != nil {
		// Nothing can be done about a file that won't go, and it holds only names.
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}

func spillError(err error) error {
	return &lake.Error{Op: "sort paths", Err: err, Hint: "Free some space in the temporary directory, or set TMPDIR."}
}

// source reads one run.
type source struct {
	r    *bufio.Reader
	path []byte
}

func (s *source) next(end byte) (bool, error) {
	path, err := s.r.ReadBytes(end)
	if err == io.EOF && len(path) == 0 {
		return false, nil
	}
	if err != nil {
		return false, spillError(err)
	}
	s.path = path
	return true, nil
}

// merge is a heap of runs by their next path.
type merge struct {
	sources []*source
	compare func(a, b []byte) int
}

func (m *merge) Len() int           { return len(m.sources) }
func (m *merge) Less(i, j int) bool { return m.compare(m.sources[i].path, m.sources[j].path) < 0 }
func (m *merge) Swap(i, j int)      { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }
func (m *merge) Push(x any)         { m.sources = append(m.sources, x.(*source)) }
func (m *merge) Pop() any {
	last := m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	return last
}
