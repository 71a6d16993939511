package filelist

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
)

const (
	minSortMemory = 1 << 20
	fanIn         = 64       // runs merged at once
	runBuffer     = 64 << 10 // bytes read ahead from each run
)

// Sorter sorts verdicts by the bytes of their path (the Key, or the URI of a
// blob) in bounded memory: what doesn't fit is spilled to files of its own in
// a temporary directory. Verdicts with one path keep the order in which they
// were added, one goroutine's at least. Add is safe for concurrent use.
//
// Memory: the budget, and at most 8 MiB while merging.
type Sorter struct {
	mu     sync.Mutex
	parent string
	dir    string // "" before the first spill
	budget int
	arena  []byte   // binary records
	items  []record // of the arena
	runs   []string // files, in the order of their rows
	made   int
	n      int64
	err    error
}

// record is one record in an arena. The path is a part of it.
type record struct{ start, end, pathStart, pathEnd int }

const recordSize = 4 * 8

// NewSorter returns a Sorter that keeps about memory bytes in memory and
// spills to a new directory below dir ("" for the system's temporary one).
func NewSorter(dir string, memory int64) *Sorter {
	return &Sorter{parent: dir, budget: int(max(memory, minSortMemory))}
}

// Add adds a verdict.
//
// Errors: Internal if a run can't be written; the Sorter is then unusable.
func (s *Sorter) Add(v lake.Verdict) error {
	v = normal(v)
	path := string(v.Key) + v.URI
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	start := len(s.arena)
	s.arena = append(s.arena, path...)
	item := record{start: len(s.arena), pathStart: start, pathEnd: len(s.arena)}
	s.arena = appendVerdict(s.arena, &v)
	item.end = len(s.arena)
	s.items = append(s.items, item)
	s.n++
	if cap(s.arena)+cap(s.items)*recordSize > s.budget && len(s.arena)+len(s.items)*recordSize > s.budget/2 {
		return s.fail(s.spill())
	}
	return nil
}

// Len returns the number of verdicts added.
func (s *Sorter) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Sorted yields all verdicts in byte order of their paths. Nothing may be
// added while it runs; it may be called again.
//
// Errors: Internal, once, as the last element.
func (s *Sorter) Sorted() iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		stopped := false
		err := s.err
		if err == nil {
			err = s.merged(func(v lake.Verdict) bool {
				stopped = !yield(v, nil)
				return !stopped
			})
		}
		if err != nil && !stopped {
			yield(lake.Verdict{}, s.fail(err))
		}
	}
}

func (s *Sorter) merged(yield func(lake.Verdict) bool) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, item := range s.items {
			v, err := decodeVerdict(s.arena[item.start:item.end])
			if err != nil || !yield(v) {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	return mergeRuns(s.runs, func(_, body []byte) (bool, error) {
		v, err := decodeVerdict(body)
		return err == nil && yield(v), err
	})
}

// Close removes what was spilled.
func (s *Sorter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.dir
	s.arena, s.items, s.runs, s.dir = nil, nil, nil, ""
	if s.err == nil {
		s.err = &lake.Error{Op: "sort", Kind: lake.Internal, Err: errors.New("the sorter is closed")}
	}
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

func (s *Sorter) sort() {
	path := func(r record) []byte { return s.arena[r.pathStart:r.pathEnd] }
	slices.SortFunc(s.items, func(a, b record) int {
		return cmp.Or(bytes.Compare(path(a), path(b)), cmp.Compare(a.start, b.start))
	})
}

// spill writes what is in memory to a new run.
func (s *Sorter) spill() error {
	if len(s.items) == 0 {
		return nil
	}
	s.sort()
	err := s.writeRun(func(put func(path, body []byte) error) error {
		for _, r := range s.items {
			if err := put(s.arena[r.pathStart:r.pathEnd], s.arena[r.start:r.end]); err != nil {
				return err
			}
		}
		return nil
	})
	s.arena, s.items = s.arena[:0], s.items[:0]
	if err != nil || len(s.runs) < fanIn {
		return err
	}
	old := s.runs
	s.runs = nil
	err = s.writeRun(func(put func(path, body []byte) error) error {
		return mergeRuns(old, func(path, body []byte) (bool, error) { return true, put(path, body) })
	})
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// writeRun writes one run and adds it to s.runs.
func (s *Sorter) writeRun(fill func(put func(path, body []byte) error) error) (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp(s.parent, "lakesweep-sort-"); err != nil {
			return err
		}
	}
	s.made++
	name := filepath.Join(s.dir, fmt.Sprintf("run-%06d", s.made))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, runBuffer)
	err = fill(func(path, body []byte) error { return putRecord(out, path, body) })
	if err = errors.Join(err, out.Flush(), f.Close()); err == nil {
		s.runs = append(s.runs, name)
	}
	return err
}

func (s *Sorter) fail(err error) error {
	if err == nil {
		return nil
	}
	if s.err == nil {
		s.err = &lake.Error{Op: "sort", Kind: lake.Internal, Err: err, Hint: "See to free space in the temporary directory (TMPDIR) and try again."}
	}
	return s.err
}
