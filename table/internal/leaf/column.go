// Package leaf reads single columns of Parquet files, page by page, over ranged
// reads of a store: a checkpoint's statistics, by far most of it, are never
// touched.
package leaf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// Column reads one leaf of one row group in row order, a page at a time. It is
// opened by its first use, and a missing leaf is null in every row. One
// goroutine may use it.
type Column struct {
	Leaf   *parquet.Column // nil: missing
	Chunk  parquet.ColumnChunk
	Source *Range
	pages  *parquet.FilePages
	page   parquet.Page

	max      int    // the leaf's highest definition level
	def, rep []byte // levels of the page; def is empty where every value is there
	n        int    // values of the page, nulls too
	loaded   int64  // values of all pages so far
	row      int64  // the row that pos belongs to
	pos      int    // index of the next value
	val      int    // index of the next value that isn't null
	text     string // of a page of strings: all of them
	offsets  []uint32
	dict     string
	dictOffs []uint32
	index    []int32
	ints     []int64
}

// ErrShape is a column whose levels, types or values don't fit each other.
var ErrShape = errors.New("a column with an unexpected shape")

// AllNull reports whether the file's own statistics say that there is no value
// in the row group. Nothing that protects a file may depend on them.
func (c *Column) AllNull() bool {
	if c.Leaf == nil {
		return true
	}
	chunk, ok := c.Chunk.(*parquet.FileColumnChunk)
	return ok && chunk.NullCount() == chunk.NumValues()
}

// defined reports whether value i of the page is there.
func (c *Column) defined(i int) bool {
	return len(c.def) == 0 || int(c.def[i]) == c.max
}

// At moves to a row, never back, and reports whether its value is there. Only
// for leaves that aren't repeated.
func (c *Column) At(row int64) (bool, error) {
	if c.Leaf == nil {
		return false, nil
	}
	for c.row+int64(c.n-c.pos) <= row {
		c.row += int64(c.n - c.pos)
		c.pos = c.n
		if err := c.nextPage(); err != nil {
			return false, err
		}
	}
	switch skip := int(row - c.row); {
	case len(c.def) == 0:
		c.val += skip
	case skip == 1: // as mostly
		if c.defined(c.pos) {
			c.val++
		}
	default:
		c.val += bytes.Count(c.def[c.pos:c.pos+skip], []byte{byte(c.max)})
	}
	c.pos, c.row = c.pos+int(row-c.row), row
	return c.defined(c.pos), nil
}

// Text returns the value that At found.
func (c *Column) Text() (string, error) { return c.TextAt(c.val) }

// TextAt returns a value by its index in the page.
func (c *Column) TextAt(i int) (string, error) {
	text, offsets := c.text, c.offsets
	if c.index != nil {
		if i >= len(c.index) || int(c.index[i]) < 0 {
			return "", ErrShape
		}
		i, text, offsets = int(c.index[i]), c.dict, c.dictOffs
	}
	if i+1 >= len(offsets) || offsets[i] > offsets[i+1] || int(offsets[i+1]) > len(text) {
		return "", ErrShape
	}
	return text[offsets[i]:offsets[i+1]], nil
}

// Int returns the value that At found.
func (c *Column) Int() (int64, error) {
	i := c.val
	if c.index != nil {
		if i >= len(c.index) || int(c.index[i]) < 0 {
			return 0, ErrShape
		}
		i = int(c.index[i])
	}
	if i >= len(c.ints) {
		return 0, ErrShape
	}
	return c.ints[i], nil
}

// IntAt puts the value of a row into n, if there is one.
func (c *Column) IntAt(row int64, n *int64) error {
	ok, err := c.At(row)
	if ok && err == nil {
		*n, err = c.Int()
	}
	return err
}

func (c *Column) nextPage() error {
	if c.pages == nil {
		c.max = c.Leaf.MaxDefinitionLevel()
		c.pages = c.Chunk.(*parquet.FileColumnChunk).PagesFrom(c.Source)
	}
	parquet.Release(c.page)
	c.page = nil
	page, err := c.pages.ReadPage()
	if errors.Is(err, io.EOF) {
		err = errors.New("a column ends before its row group does")
	}
	if err != nil {
		return fmt.Errorf("column %v: %w", c.Leaf.Path(), err)
	}
	c.page = page
	c.def, c.rep, c.n = page.DefinitionLevels(), page.RepetitionLevels(), int(page.NumValues())
	c.pos, c.val, c.loaded = 0, 0, c.loaded+page.NumValues()
	if len(c.def) != 0 && len(c.def) != c.n || len(c.def) == 0 && c.Leaf.MaxDefinitionLevel() > 0 && c.n > 0 || len(c.rep) != 0 && len(c.rep) != c.n {
		return ErrShape
	}
	return c.load(page)
}

// load takes the values out of a page. Strings are copied, all in one, so
// that they outlive it.
func (c *Column) load(page parquet.Page) error {
	c.index, c.ints, c.offsets = nil, nil, nil
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		c.index = data.Int32()
		if c.index == nil {
			c.index = []int32{}
		}
		if c.dictOffs != nil {
			return nil
		}
		values := d.Page().Data()
		switch values.Kind() {
		case encoding.ByteArray:
			b, offsets := values.ByteArray()
			c.dict, c.dictOffs = string(b), offsets
			return nil
		default:
			return c.loadInts(values)
		}
	}
	if data.Kind() == encoding.ByteArray {
		b, offsets := data.ByteArray()
		c.text, c.offsets = string(b), offsets
		return nil
	}
	return c.loadInts(data)
}

func (c *Column) loadInts(v encoding.Values) error {
	switch v.Kind() {
	case encoding.Int64:
		c.ints = v.Int64()
	case encoding.Int32:
		for _, n := range v.Int32() {
			c.ints = append(c.ints, int64(n))
		}
	case encoding.Undefined:
	default:
		return fmt.Errorf("column %v: %w", c.Leaf.Path(), ErrShape)
	}
	return nil
}

// Close gives the page back and ends the read.
func (c *Column) Close() {
	parquet.Release(c.page)
	c.page = nil
	if c.pages != nil {
		c.pages.Close() // reading only
	}
	if c.Source != nil {
		c.Source.Close()
	}
}

// Repeated reads a repeated leaf: the elements of a list, or the keys or
// values of a map.
type Repeated struct {
	Column
	Level int // definition level of the repeated node: from here on there is an element
}

// Each calls fn with each element of a row, by its index for TextAt, null ones
// too, and reports whether the list itself is there. Rows must rise.
func (r *Repeated) Each(row int64, fn func(i int, null bool) error) (present bool, err error) {
	if r.Leaf == nil {
		return false, nil
	}
	for {
		if r.pos >= r.n {
			if err := r.nextPage(); err != nil {
				return false, err
			}
			continue
		}
		// At the first value of row r.row.
		wanted := r.row == row
		for first := true; ; first = false {
			if r.pos >= r.n {
				if r.ended() {
					break
				}
				if err := r.nextPage(); err != nil {
					return false, err
				}
				continue
			}
			if !first && (len(r.rep) == 0 || r.rep[r.pos] == 0) {
				break
			}
			level := r.Leaf.MaxDefinitionLevel()
			if len(r.def) > 0 {
				level = int(r.def[r.pos])
			}
			if wanted {
				present = present || level >= r.Level-1
				if level >= r.Level {
					if err := fn(r.val, !r.defined(r.pos)); err != nil {
						return false, err
					}
				}
			}
			if r.defined(r.pos) {
				r.val++
			}
			r.pos++
		}
		r.row++
		if wanted {
			return present, nil
		}
		if r.row > row {
			return false, ErrShape
		}
	}
}

// ended reports whether the last page is read.
func (r *Repeated) ended() bool { return r.loaded >= r.Chunk.NumValues() }
