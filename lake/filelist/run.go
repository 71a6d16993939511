package filelist

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A run is a sequence of records: the path and the body, each after its length.

func putRecord(out *bufio.Writer, parts ...[]byte) error {
	for _, part := range parts {
		var length [binary.MaxVarintLen64]byte
		if _, err := out.Write(length[:binary.PutUvarint(length[:], uint64(len(part)))]); err != nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// run reads one run.
type run struct {
	in         *bufio.Reader
	path, body []byte
	index      int
}

// next reads the next record; false at the end of the run.
func (r *run) next() (bool, error) {
	var err error
	if r.path, err = readPart(r.in, r.path); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if r.body, err = readPart(r.in, r.body); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err == nil, err
}

func readPart(in *bufio.Reader, into []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if n > 1<<30 {
		return nil, fmt.Errorf("a record of %d bytes", n)
	}
	if uint64(cap(into)) < n {
		into = make([]byte, n)
	}
	into = into[:n]
	if _, err := io.ReadFull(in, into); err == io.EOF && n > 0 {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil && err != io.EOF {
		return nil, err
	}
	return into, nil
}

// runs is a heap by path, then by age.
type runs []*run

func (h runs) Len() int { return len(h) }
func (h runs) Less(i, j int) bool {
	c := bytes.Compare(h[i].path, h[j].path)
	return c < 0 || c == 0 && h[i].index < h[j].index
}
func (h runs) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runs) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runs) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// mergeRuns calls put for every record of the files in order, until it returns false.
func mergeRuns(names []string, put func(path, body []byte) (bool, error)) (err error) {
	var h runs
	var open []*os.File
	defer func() {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
	}()
	for i, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		open = append(open, f)
		r := &run{in: bufio.NewReaderSize(f, runBuffer), index: i}
		ok, err := r.next()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if ok {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		r := h[0]
		if more, err := put(r.path, r.body); err != nil || !more {
			return err
		}
		ok, err := r.next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", names[r.index], err)
		case ok:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
	return nil
}
