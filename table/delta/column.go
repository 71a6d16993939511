package delta

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// column reads one leaf of one row group in row order, a page at a time. It is
// opened by its first use, and a missing leaf is null in every row. One
// goroutine may use it.
type column struct {
	leaf   *parquet.Column
	chunk  parquet.ColumnChunk
	source *rangeReader
	pages  *parquet.FilePages
	page   parquet.Page

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

var errColumn = errors.New("a column with an unexpected shape")

// allNull reports whether the file's own statistics say that there is no value
// in the row group. Nothing that protects a file may depend on them.
func (c *column) allNull() bool {
	if c.leaf == nil {
		return true
	}
	chunk, ok := c.chunk.(*parquet.FileColumnChunk)
	return ok && chunk.NullCount() == chunk.NumValues()
}

// defined reports whether value i of the page is there.
func (c *column) defined(i int) bool {
	return len(c.def) == 0 || int(c.def[i]) == c.leaf.MaxDefinitionLevel()
}

// at moves to a row, never back, and reports whether its value is there. Only
// for leaves that aren't repeated.
func (c *column) at(row int64) (bool, error) {
	if c.leaf == nil {
		return false, nil
	}
	for c.row+int64(c.n-c.pos) <= row {
		c.row += int64(c.n - c.pos)
		c.pos = c.n
		if err := c.nextPage(); err != nil {
			return false, err
		}
	}
	skip := int(row - c.row)
	if len(c.def) == 0 {
		c.val += skip
	} else {
		c.val += bytes.Count(c.def[c.pos:c.pos+skip], []byte{byte(c.leaf.MaxDefinitionLevel())})
	}
	c.pos, c.row = c.pos+skip, row
	return c.defined(c.pos), nil
}

// string returns the value that at or next found.
func (c *column) string() (string, error) { return c.stringAt(c.val) }

func (c *column) stringAt(i int) (string, error) {
	text, offsets := c.text, c.offsets
	if c.index != nil {
		if i >= len(c.index) || int(c.index[i]) < 0 {
			return "", errColumn
		}
		i, text, offsets = int(c.index[i]), c.dict, c.dictOffs
	}
	if i+1 >= len(offsets) || offsets[i] > offsets[i+1] || int(offsets[i+1]) > len(text) {
		return "", errColumn
	}
	return text[offsets[i]:offsets[i+1]], nil
}

// int returns the value that at found.
func (c *column) int() (int64, error) {
	i := c.val
	if c.index != nil {
		if i >= len(c.index) || int(c.index[i]) < 0 {
			return 0, errColumn
		}
		i = int(c.index[i])
	}
	if i >= len(c.ints) {
		return 0, errColumn
	}
	return c.ints[i], nil
}

func (c *column) nextPage() error {
	if c.pages == nil {
		c.pages = c.chunk.(*parquet.FileColumnChunk).PagesFrom(c.source)
	}
	parquet.Release(c.page)
	c.page = nil
	page, err := c.pages.ReadPage()
	if errors.Is(err, io.EOF) {
		err = errors.New("a column ends before its row group does")
	}
	if err != nil {
		return fmt.Errorf("column %v: %w", c.leaf.Path(), err)
	}
	c.page = page
	c.def, c.rep, c.n = page.DefinitionLevels(), page.RepetitionLevels(), int(page.NumValues())
	c.pos, c.val, c.loaded = 0, 0, c.loaded+page.NumValues()
	if len(c.def) != 0 && len(c.def) != c.n || len(c.def) == 0 && c.leaf.MaxDefinitionLevel() > 0 && c.n > 0 || len(c.rep) != 0 && len(c.rep) != c.n {
		return errColumn
	}
	return c.load(page)
}

// load takes the values out of a page. Strings are copied, all in one, so
// that they outlive it.
func (c *column) load(page parquet.Page) error {
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

func (c *column) loadInts(v encoding.Values) error {
	switch v.Kind() {
	case encoding.Int64:
		c.ints = v.Int64()
	case encoding.Int32:
		for _, n := range v.Int32() {
			c.ints = append(c.ints, int64(n))
		}
	case encoding.Undefined:
	default:
		return fmt.Errorf("column %v: %w", c.leaf.Path(), errColumn)
	}
	return nil
}

func (c *column) close() {
	parquet.Release(c.page)
	c.page = nil
	if c.pages != nil {
		c.pages.Close() // reading only
	}
	if c.source != nil {
		c.source.Close()
	}
}

// repeated reads a repeated leaf: the elements of a list, or the keys or
// values of a map.
type repeated struct {
	column
	level int // definition level of the repeated node: from here on there is an element
}

// each calls fn with each element of a row, null ones too, and reports whether
// the list itself is there. Rows must rise.
func (r *repeated) each(row int64, fn func(i int, null bool) error) (present bool, err error) {
	if r.leaf == nil {
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
			level := r.leaf.MaxDefinitionLevel()
			if len(r.def) > 0 {
				level = int(r.def[r.pos])
			}
			if wanted {
				present = present || level >= r.level-1
				if level >= r.level {
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
			return false, errColumn
		}
	}
}

// ended reports whether the last page is read.
func (r *repeated) ended() bool { return r.loaded >= r.chunk.NumValues() }
