package decode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/csv"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
)

// CSV is how a CSV text is laid out.
type CSV struct {
	Comma  byte     // 0: ','
	Names  []string // of the columns, where the text has no header
	Header bool     // the first record names the columns
}

// readCSV hands on the rows of a CSV part.
func readCSV(in io.Reader, form CSV, explicit map[string]string, clock value.Times, b *rowset.Batch) error {
	s := csv.NewSplitter(in, form.Comma)
	names := form.Names
	if form.Header {
		fields, err := s.Next()
		if err == io.EOF {
			return nil // an empty shard
		}
		if err != nil {
			return err
		}
		names = texts(fields)
	}
	var slots []columns.Role
	var r rowset.Raw
	for {
		fields, err := s.Next()
		if err == io.EOF {
			return b.Flush()
		}
		if err != nil {
			return err
		}
		if slots == nil {
			if names == nil {
				names = numbered(len(fields))
			}
			cols, err := columns.Assign(names, explicit)
			if err != nil {
				return err
			}
			slots, b.Latest = cols.Slots(len(names)), cols.Has(columns.Latest)
		}
		if len(fields) != len(slots) {
			return fmt.Errorf("record %d has %d fields instead of %d", s.Line, len(fields), len(slots))
		}
		r = rowset.Raw{Size: -1}
		for i, f := range fields {
			if slots[i] != columns.None {
				r.Set(slots[i], f, clock)
			}
		}
		if err := b.Add(&r); err != nil {
			return err
		}
	}
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
func readLines(in *bufio.Reader, b *rowset.Batch) error {
	head, err := in.Peek(in.Size())
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	end := byte('\n')
	if bytes.IndexByte(head, 0) >= 0 {
		end = 0
	}
	r := rowset.Raw{Size: -1}
	var long []byte
	for {
		line, err := in.ReadSlice(end)
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > csv.MaxRecord {
				return csv.ErrLongRecord
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
			r.Path = line
			if err := b.Add(&r); err != nil {
				return err
			}
		}
		long = long[:0]
		if err == io.EOF {
			return b.Flush()
		}
	}
}

// header returns the fields of the first record of a text that begins with head.
func header(head []byte, comma byte) []string {
	s := csv.NewSplitter(bytes.NewReader(head), comma)
	fields, err := s.Next()
	if err != nil {
		return nil
	}
	return texts(fields)
}
