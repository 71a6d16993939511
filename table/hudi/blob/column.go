package blob

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

// column is the chunk of one leaf in one row group.
type column struct {
	leaf       *parquet.Column
	chunk      *parquet.FileColumnChunk
	meta       *format.ColumnMetaData
	src        *source
	stream     *leaf.Range // reads a chunk too large for memory
	dictionary bool        // the dictionary alone tells all values

	pages  *parquet.FilePages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value
	at, n  int
	seen   int64
}

func (f *parquetFile) column(group int, l *parquet.Column) *column {
	chunk, ok := f.file.RowGroups()[group].ColumnChunks()[l.Index()].(*parquet.FileColumnChunk)
	if !ok {
		panic("a column chunk that is of no file")
	}
	return &column{leaf: l, chunk: chunk, meta: &f.file.Metadata().RowGroups[group].Columns[l.Index()].MetaData, src: f.src}
}

// extent is where the bytes lie that are to be read.
func (c *column) extent() (off, end int64) {
	off = c.meta.DataPageOffset
	if d := c.meta.DictionaryPageOffset; d > 0 && d < off {
		off = d
	}
	if c.dictionary {
		return off, c.meta.DataPageOffset
	}
	return off, off + c.meta.TotalCompressedSize
}

// allNull reports whether statistics say that there is no value.
func (c *column) allNull() bool {
	return c.meta.NumValues == 0 || c.meta.Statistics.NullCount == c.meta.NumValues
}

// passed asks whether the chunk may be passed over by its bounds. Files of
// writers without proper bounds for text have none.
func (c *column) passed(pass func(least, greatest string) bool) bool {
	least, greatest, ok := c.chunk.Bounds()
	return ok && pass != nil && pass(string(least.ByteArray()), string(greatest.ByteArray()))
}

// allDictionary reports whether every data page refers to the dictionary.
func (c *column) allDictionary() bool {
	if d := c.meta.DictionaryPageOffset; d <= 0 || d >= c.meta.DataPageOffset {
		return false
	}
	data := false
	for _, s := range c.meta.EncodingStats {
		if s.PageType != format.DataPage && s.PageType != format.DataPageV2 {
			continue
		}
		if s.Encoding != format.RLEDictionary && s.Encoding != format.PlainDictionary {
			return false
		}
		data = true
	}
	return data
}

func (c *column) open() {
	var at io.ReaderAt = fetched{c.src}
	if c.stream != nil {
		at = c.stream
	}
	c.pages = c.chunk.PagesFrom(at)
}

// distinct yields every value at least once: those of the dictionary, where
// that tells all.
func (c *column) distinct(emit func(string) error) error {
	defer c.close()
	if c.dictionary {
		c.open()
		d, err := c.pages.ReadDictionary()
		if err != nil {
			return fmt.Errorf("dictionary of column %v: %w", c.leaf.Path(), noEOF(err))
		}
		for i := range d.Len() {
			if err := emit(string(d.Index(int32(i)).ByteArray())); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		v, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("column %v: %w", c.leaf.Path(), err)
		}
		if !v.IsNull() {
			if err := emit(string(v.ByteArray())); err != nil {
				return err
			}
		}
	}
}

// next returns the next value, null ones too; io.EOF after the last.
func (c *column) next() (parquet.Value, error) {
	for c.at == c.n {
		if err := c.fill(); err != nil {
			return parquet.Value{}, err
		}
	}
	c.at++
	return c.values[c.at-1], nil
}

func (c *column) fill() error {
	if c.pages == nil {
		c.open()
		c.values = make([]parquet.Value, 512)
	}
	if c.reader == nil {
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) && c.seen != c.meta.NumValues {
			return fmt.Errorf("%d of %d values: %w", c.seen, c.meta.NumValues, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		c.page, c.reader = page, page.Values()
	}
	n, err := c.reader.ReadValues(c.values)
	c.at, c.n, c.seen = 0, n, c.seen+int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n == 0 {
		parquet.Release(c.page)
		c.page, c.reader = nil, nil
	}
	return nil
}

func (c *column) close() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	if c.pages != nil {
		c.pages.Close() // reading only
		c.pages = nil
	}
	if c.stream != nil {
		c.src.note(c.stream.Err)
		c.stream.Close()
	}
}
