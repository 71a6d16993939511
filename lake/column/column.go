// Package column reads columns of Parquet files value by value, which is
// several times as fast as whole rows.
//
// Invariant: what a damaged file can do to the Parquet library, a panic
// included, is an error here.
package column

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// batch is the number of values read at once.
const batch = 1024

// Cursor reads the values of one column of a row group, in order. Not safe for
// concurrent use.
type Cursor struct {
	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value
	at, n  int
}

// New returns a Cursor over pages, which Close closes.
func New(pages parquet.Pages) *Cursor {
	return &Cursor{pages: pages, values: make([]parquet.Value, batch)}
}

// Fill reads more values, at least one, where all of the last ones are taken,
// whose bytes are no longer valid then. It returns the number of those at hand.
//
// Errors: io.ErrUnexpectedEOF at the end of the column; those of the file.
func (c *Cursor) Fill() (int, error) {
	if c.at == c.n {
		if err := Guard(c.fill); err != nil {
			return 0, err
		}
	}
	return c.n - c.at, nil
}

func (c *Cursor) fill() error {
	for c.at == c.n {
		if c.reader == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			c.page, c.reader = page, page.Values()
		}
		n, err := c.reader.ReadValues(c.values)
		c.at, c.n = 0, n
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			parquet.Release(c.page)
			c.page, c.reader = nil, nil
		}
	}
	return nil
}

// Take returns the next n values, at most as many as Fill said. Their bytes are
// valid until the next Fill.
func (c *Cursor) Take(n int) []parquet.Value {
	c.at += n
	return c.values[c.at-n : c.at]
}

// Close closes the pages.
func (c *Cursor) Close() error {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.reader = nil, nil
	}
	return c.pages.Close()
}

// Fill fills all cursors and returns for how many rows each has values, at most limit.
func Fill(cursors []*Cursor, limit int64) (int, error) {
	n := int(min(limit, batch))
	for _, c := range cursors {
		have, err := c.Fill()
		if err != nil {
			return 0, err
		}
		n = min(n, have)
	}
	return n, nil
}

// Close closes all cursors.
//
// Errors: the first.
func Close(cursors []*Cursor) (err error) {
	for _, c := range cursors {
		if closeErr := c.Close(); err == nil {
			err = closeErr
		}
	}
	return err
}

// Guard runs read, which calls the Parquet library, and makes an error of a
// panic: on damaged bytes the library may run past a slice.
func Guard(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed Parquet: %v", p)
		}
	}()
	return read()
}
