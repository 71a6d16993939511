package filelist

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/lakesweep/lakesweep/lake"
)

const (
	defaultSortMemory = 32 << 20
	minBlock          = 256 << 10
	maxBlocks         = 8
	fanIn             = 128      // runs merged at once
	runBuffer         = 64 << 10 // bytes read ahead from each run
)

// Sorter sorts verdicts by the bytes of their path (the Key, or the URI of a
// blob) in bounded memory: what doesn't fit is spilled to files of its own in
// a temporary directory. Verdicts with one path come in the order of their
// binary form. Add and AddAll are safe for concurrent use, and so are Sorted
// and Visit once all is added.
//
// Memory: the budget, and at most 8 MiB while merging.
type Sorter struct {
	parent string
	budget int         // bytes of one block
	blocks chan *block // those that nobody fills; a nil one isn't made yet

	settling sync.Mutex // one of those who read at a time

	mu   sync.Mutex
	dir  string   // "" before the first spill
	runs []string // files
	made int
	n    int64
	err  error
}

// NewSorter returns a Sorter that keeps about memory bytes in memory (0: 32
// MiB) and spills to a new directory below dir ("" for the system's temporary one).
func NewSorter(dir string, memory int64) *Sorter {
	if memory <= 0 {
		memory = defaultSortMemory
	}
	n := min(runtime.GOMAXPROCS(0), maxBlocks)
	s := &Sorter{parent: dir, budget: int(min(max(memory/int64(n), minBlock), maxBlock)), blocks: make(chan *block, n)}
	for range n {
		s.blocks <- nil
	}
	return s
}

// Add adds a verdict.
//
// Errors: Internal if a run can't be written; the Sorter is then unusable.
func (s *Sorter) Add(v lake.Verdict) error { return s.AddAll([]lake.Verdict{v}) }

// AddAll adds verdicts, of which nothing is kept.
//
// Errors: as Add.
func (s *Sorter) AddAll(vs []lake.Verdict) error {
	if len(vs) == 0 {
		return nil
	}
	b := <-s.blocks
	defer func() { s.blocks <- b }()
	if b == nil {
		b = new(block)
	}
	for i := range vs {
		b.grow(s.budget)
		b.add(normal(vs[i]))
		if b.size() < s.budget {
			continue
		}
		if err := s.spill(b); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n += int64(len(vs))
	return s.err
}

// Len returns the number of verdicts added.
func (s *Sorter) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Sorted yields all verdicts in the order of their paths. Nothing may be
// added while it runs; it may be called again.
//
// Errors: Internal, once, as the last element.
func (s *Sorter) Sorted() iter.Seq2[lake.Verdict, error] {
	return ahead(func(yield func(lake.Verdict, error) bool) {
		var last repeating
		stopped := false
		err := s.merged(func(r []byte) (bool, error) {
			v, err := last.decode(r)
			if err == nil {
				stopped = !yield(v, nil)
			}
			return !stopped, err
		})
		if err != nil && !stopped {
			yield(lake.Verdict{}, err)
		}
	})
}

// Packed is a verdict in its binary form.
type Packed []byte

// Path returns the verdict's path, a part of the record.
func (r Packed) Path() []byte {
	start, end := recordPath(r)
	return r[start:end]
}

// Verdict decodes the record.
//
// Errors: that it is none.
func (r Packed) Verdict() (lake.Verdict, error) { return decodeVerdict(r) }

// Visit calls visit with each verdict as Sorted yields it. It is several times
// as fast for one who needs few of them whole. A record is lent for the call.
//
// Errors: Internal; visit's.
func (s *Sorter) Visit(visit func(Packed) error) error {
	return s.merged(func(r []byte) (bool, error) { return true, visit(r) })
}

// merged calls put for every record in order, until it returns false.
func (s *Sorter) merged(put func(record []byte) (bool, error)) error {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	filled, runs, err := s.settle()
	if err != nil {
		return s.fail(err)
	}
	if len(runs) > 0 {
		return s.fail(mergeRuns(runs, put))
	}
	return s.fail(mergeBlocks(filled, put))
}

// settle returns few enough runs to merge, or sorted blocks.
func (s *Sorter) settle() (filled []*block, runs []string, err error) {
	s.settling.Lock()
	defer s.settling.Unlock()
	for range cap(s.blocks) {
		if b := <-s.blocks; b != nil && len(b.records) > 0 {
			filled = append(filled, b)
		}
	}
	defer func() {
		for i := range cap(s.blocks) {
			if i < len(filled) {
				s.blocks <- filled[i]
			} else {
				s.blocks <- nil
			}
		}
	}()
	if len(s.runs) == 0 {
		var g sync.WaitGroup
		for _, b := range filled {
			g.Go(b.sort)
		}
		g.Wait()
		return filled, nil, nil
	}
	for _, b := range filled {
		if err := s.spill(b); err != nil {
			return nil, nil, err
		}
	}
	filled = nil // they are empty: their memory can go
	err = s.thin()
	return nil, s.runs, err
}

// thin merges runs until one merge can read them all.
func (s *Sorter) thin() error {
	for len(s.runs) > fanIn {
		some := s.runs[:fanIn]
		err := s.writeRun(func(out *runWriter) error {
			return mergeRuns(some, func(r []byte) (bool, error) { return true, out.put(r) })
		})
		if err != nil {
			return err
		}
		s.runs = s.runs[fanIn:]
		for _, name := range some {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// spill writes a block as a run and empties it.
func (s *Sorter) spill(b *block) error {
	b.sort()
	err := s.writeRun(func(out *runWriter) error {
		for i := range b.records {
			if err := out.put(b.record(i)); err != nil {
				return err
			}
		}
		return nil
	})
	b.reset()
	return s.fail(err)
}

// writeRun writes one run and adds it to s.runs.
func (s *Sorter) writeRun(fill func(*runWriter) error) error {
	name, err := s.runName()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := newRunWriter(f)
	err = fill(out)
	if err = errors.Join(err, out.flush(), f.Close()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, name)
	return nil
}

func (s *Sorter) runName() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return "", s.err
	}
	if s.dir == "" {
		var err error
		if s.dir, err = os.MkdirTemp(s.parent, "lakesweep-sort-"); err != nil {
			return "", err
		}
	}
	s.made++
	return filepath.Join(s.dir, fmt.Sprintf("run-%06d", s.made)), nil
}

// Close removes what was spilled.
func (s *Sorter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.dir
	s.runs, s.dir = nil, ""
	if s.err == nil {
		s.err = &lake.Error{Op: "sort", Kind: lake.Internal, Err: errors.New("the sorter is closed")}
	}
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// fail makes the Sorter unusable by an error of its own; one that has its kind
// already is another's.
func (s *Sorter) fail(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = &lake.Error{Op: "sort", Kind: lake.Internal, Err: err, Hint: "See to free space in the temporary directory (TMPDIR) and try again."}
	}
	return s.err
}
