package inventory

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// csvForm is how a CSV text is laid out.
type csvForm struct {
	comma  byte     // 0: ','
	names  []string // of the columns, where the text has no header
	header bool     // the first record names the columns
}

// readCSV hands on the rows of a CSV part.
func readCSV(in io.Reader, form csvForm, explicit map[string]string, clock times, b *batch) error {
	s := newSplitter(in, form.comma)
	names := form.names
	if form.header {
		fields, err := s.next()
		if err == io.EOF {
			return nil // an empty shard
		}
		if err != nil {
			return err
		}
		names = texts(fields)
	}
	var slots []role
	var r raw
	for {
		fields, err := s.next()
		if err == io.EOF {
			return b.flush()
		}
		if err != nil {
			return err
		}
		if slots == nil {
			if names == nil {
				names = numbered(len(fields))
			}
			cols, err := assign(names, explicit)
			if err != nil {
				return err
			}
			slots, b.latest = cols.slots(len(names)), cols.has(roleLatest)
		}
		if len(fields) != len(slots) {
			return fmt.Errorf("record %d has %d fields instead of %d", s.line, len(fields), len(slots))
		}
		r = raw{size: -1}
		for i, f := range fields {
			if slots[i] != roles {
				r.set(slots[i], f, clock)
			}
		}
		if err := b.add(&r); err != nil {
			return err
		}
	}
}

// slots inverts c: the role of each of n columns, roles for none.
func (c columns) slots(n int) []role {
	out := slices.Repeat([]role{roles}, n)
	for r, i := range c {
		out[i] = r
	}
	return out
}

func texts(fields [][]byte) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = string(f)
	}
	return out
}

// numbered names n columns by their numbers.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("column ", i+1)
	}
	return out
}

// readLines hands on a plain list of paths, each ended by a line break (and a
// carriage return before it) or, if the text holds any, by NUL.
func readLines(in *bufio.Reader, b *batch) error {
	head, err := in.Peek(in.Size())
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	end := byte('\n')
	if bytes.IndexByte(head, 0) >= 0 {
		end = 0
	}
	r := raw{size: -1}
	var long []byte
	for {
		line, err := in.ReadSlice(end)
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxRecord {
				return errLongRecord
			}
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		line = bytes.TrimSuffix(line, []byte{end})
		if end == '\n' {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if len(line) > 0 {
			r.path = line
			if err := b.add(&r); err != nil {
				return err
			}
		}
		long = long[:0]
		if err == io.EOF {
			return b.flush()
		}
	}
}

// header returns the fields of the first record of a text that begins with head.
func header(head []byte, comma byte) []string {
	s := newSplitter(bytes.NewReader(head), comma)
	fields, err := s.next()
	if err != nil {
		return nil
	}
	return texts(fields)
}
