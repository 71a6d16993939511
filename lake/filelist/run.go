package filelist

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxRecordBytes bounds what a damaged run can make a reader allocate.
const maxRecordBytes = 1 << 30

// A run is a file of records in order, each after its length.

type runWriter struct{ out *bufio.Writer }

func newRunWriter(f *os.File) *runWriter { return &runWriter{bufio.NewWriterSize(f, runBuffer)} }

func (w *runWriter) put(record []byte) error {
	var length [binary.MaxVarintLen64]byte
	if _, err := w.out.Write(length[:binary.PutUvarint(length[:], uint64(len(record)))]); err != nil {
		return err
	}
	_, err := w.out.Write(record)
	return err
}

func (w *runWriter) flush() error { return w.out.Flush() }

// run reads one run.
type run struct {
	in     *bufio.Reader
	record []byte // the last one; it lies in the reader's buffer or in long
	path   []byte // in record
	long   []byte
	held   int // bytes of the buffer that record takes
}

// next reads the next record; false at the end of the run.
func (r *run) next() (bool, error) {
	if _, err := r.in.Discard(r.held); err != nil {
		return false, err
	}
	r.held = 0
	n, err := binary.ReadUvarint(r.in)
	if err == io.EOF {
		return false, nil
	}
	if err == nil && n > maxRecordBytes {
		err = fmt.Errorf("a record of %d bytes", n)
	}
	if err != nil {
		return false, err
	}
	if n <= uint64(r.in.Size()) {
		r.record, err = r.in.Peek(int(n))
		r.held = len(r.record)
	} else {
		if uint64(cap(r.long)) < n {
			r.long = make([]byte, n)
		}
		r.record = r.long[:n]
		_, err = io.ReadFull(r.in, r.record)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return false, err
	}
	path, pathEnd := recordPath(r.record)
	if pathEnd < 0 {
		return false, errShort
	}
	r.path = r.record[path:pathEnd]
	return true, nil
}

func (r *run) before(o *run) bool {
	if c := bytes.Compare(r.path, o.path); c != 0 {
		return c < 0
	}
	return bytes.Compare(r.record, o.record) < 0
}

// mergeRuns calls put for every record of the files in order, until it returns
// false. A record is lent for the call.
func mergeRuns(names []string, put func(record []byte) (bool, error)) (err error) {
	var h []*run // a heap
	var open []*os.File
	defer func() {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		open = append(open, f)
		r := &run{in: bufio.NewReaderSize(f, runBuffer)}
		ok, err := r.next()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if ok {
			h = append(h, r)
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
	for len(h) > 0 {
		if more, err := put(h[0].record); err != nil || !more {
			return err
		}
		ok, err := h[0].next()
		if err != nil {
			return fmt.Errorf("read a sorted run: %w", err)
		}
		if !ok {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		sink(h, 0)
	}
	return nil
}

// sink moves the run at i down the heap to its place.
func sink(h []*run, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
