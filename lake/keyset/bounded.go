package keyset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/lake"
)

// bounded is what a Builder of bounded memory adds: sorted runs of
// fingerprints in one temporary file, which the system forgets with the process.
type bounded struct {
	limit int64        // bytes of slots and marks
	used  atomic.Int64 // of them

	mu   sync.Mutex
	dir  string
	file *os.File // nil before the first spill
	end  int64
	runs [shardCount][]section
	err  error
}

// section is a run of n records in a file.
type section struct{ offset, n int64 }

// recordBytes is the size of a spilled fingerprint: 8 bytes and its mark.
const recordBytes = 9

// NewBounded returns an empty Builder that keeps about memory bytes in memory,
// 150 kB at least, and spills what is beyond to a file in dir ("" for the system's temporary
// one). It is finished by Finish.
func NewBounded(dir string, memory int64) *Builder {
	return &Builder{seed: rand.Uint64(), bounded: &bounded{limit: memory, dir: dir}}
}

// room makes room in a full shard: by growing, or by spilling it where the
// memory is used up. The caller holds its lock.
func (b *Builder) room(i int) {
	s := &b.shards[i]
	if b.bounded == nil {
		s.grow()
		return
	}
	before := s.bytes()
	if size := int64(s.grown()) * 33 / 4; len(s.slots) > 0 && b.bounded.used.Load()+size-before > b.bounded.limit {
		b.bounded.spill(i, s)
		return
	}
	s.grow()
	b.bounded.used.Add(s.bytes() - before)
}

func (s *shard) bytes() int64 { return int64(len(s.slots))*8 + int64(len(s.marks))*4 }

// spill writes a shard as a sorted run and empties it.
func (d *bounded) spill(i int, s *shard) {
	records := s.sorted()
	clear(s.slots)
	clear(s.marks)
	s.n = 0
	data := make([]byte, 0, len(records)*recordBytes)
	for _, r := range records {
		data = append(binary.BigEndian.AppendUint64(data, r.fp), r.mark)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil && d.err == nil {
		d.file, d.err = scratch(d.dir)
	}
	if d.err == nil {
		_, d.err = d.file.WriteAt(data, d.end)
	}
	d.runs[i] = append(d.runs[i], section{d.end, int64(len(records))})
	d.end += int64(len(data))
}

type record struct {
	fp   uint64
	mark byte
}

func (s *shard) sorted() []record {
	records := make([]record, 0, s.n)
	for i, fp := range s.slots {
		if fp != 0 {
			records = append(records, record{fp, byte(s.marks[i/16] >> (i % 16 * 2) & 3)})
		}
	}
	sortRecords(records)
	return records
}

func sortRecords(records []record) {
	slices.SortFunc(records, func(a, b record) int {
		if a.fp < b.fp {
			return -1
		}
		if a.fp > b.fp {
			return 1
		}
		return 0
	})
}

// scratch opens a temporary file without a name.
func scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "lakesweep-keys-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Finish returns the finished set. The Builder must not be used any more.
//
// Errors: Internal if the temporary file couldn't be written or read.
func (b *Builder) Finish() (*Set, error) {
	if b.bounded == nil || b.bounded.file == nil && b.bounded.err == nil {
		b.bounded = nil
		return b.Done(), nil
	}
	s, err := b.finishSpilled()
	if err != nil {
		return nil, &lake.Error{Op: "keep protected keys on disk", Kind: lake.Internal, Err: err,
			Hint: "Make room in the temporary folder (TMPDIR), or allow more --memory."}
	}
	return s, nil
}

// finishSpilled merges the runs, shard by shard, into one file of sorted
// fingerprints. The marks stay in memory.
func (b *Builder) finishSpilled() (_ *Set, err error) {
	runs := b.bounded
	if runs.err != nil {
		return nil, runs.err
	}
	out, err := scratch(runs.dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, runs.file.Close())
		if err != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	s := &Set{seed: b.seed, disk: &disk{file: out}}
	w := bufio.NewWriterSize(out, 1<<20)
	var end int64
	for i := range b.shards {
		records, err := runs.load(i)
		if err != nil {
			return nil, err
		}
		records = append(records, b.shards[i].sorted()...)
		b.shards[i] = shard{}
		sortRecords(records)
		marks := make([]uint32, (len(records)+15)/16)
		n := 0
		for j, r := range records {
			if j > 0 && records[j-1].fp == r.fp {
				n-- // the same key again: one slot, both marks
			} else if _, err := w.Write(binary.BigEndian.AppendUint64(nil, r.fp)); err != nil {
				return nil, err
			}
			marks[n/16] |= uint32(r.mark) << (n % 16 * 2)
			n++
		}
		s.shards[i].marks = marks
		s.disk.shards[i] = section{end, int64(n)}
		s.n += int64(n)
		end += int64(n) * 8
	}
	return s, w.Flush()
}

// load reads all runs of a shard.
func (d *bounded) load(i int) ([]record, error) {
	var records []record
	for _, run := range d.runs[i] {
		data := make([]byte, run.n*recordBytes)
		if err := readFull(d.file, data, run.offset); err != nil {
			return nil, fmt.Errorf("read a run: %w", err)
		}
		for ; len(data) > 0; data = data[recordBytes:] {
			records = append(records, record{binary.BigEndian.Uint64(data), data[8]})
		}
	}
	return records, nil
}
