package blob

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
	"github.com/lakesweep/lakesweep/table/internal/leaf"
)

// chunk is the part of one leaf that lies in one row group.
type chunk struct {
	leaf       *parquet.Column
	chunk      *parquet.FileColumnChunk
	meta       *format.ColumnMetaData
	src        *source
	stream     *leaf.Range // reads a chunk too large for memory
	dictionary bool        // the dictionary alone tells all values
}

func (f *parquetFile) chunk(group int, l *parquet.Column) (*chunk, error) {
	c, ok := f.file.RowGroups()[group].ColumnChunks()[l.Index()].(*parquet.FileColumnChunk)
	if !ok {
		return nil, errors.New("a column chunk that is of no file")
	}
	raw := &f.file.Metadata().RowGroups[group].Columns[l.Index()]
	if raw.CryptoMetadata.Value != nil || len(raw.EncryptedColumnMetadata) > 0 || raw.FilePath != "" {
		return nil, &lake.Error{Op: "read references", Kind: lake.Unsupported, Err: fmt.Errorf("the column %v is encrypted or in another file", l.Path())}
	}
	return &chunk{leaf: l, chunk: c, meta: &raw.MetaData, src: f.src}, nil
}

// extent is where the bytes lie that are to be read.
func (c *chunk) extent() (off, end int64) {
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
func (c *chunk) allNull() bool {
	return c.meta.NumValues == 0 || c.meta.Statistics.NullCount == c.meta.NumValues
}

// statistics returns the least and greatest value, which may be cut short.
// Files of writers without proper ones for text have none.
func (c *chunk) statistics() (least, greatest string, ok bool) {
	a, b, ok := c.chunk.Bounds()
	if !ok {
		return "", "", false
	}
	return string(a.ByteArray()), string(b.ByteArray()), true
}

// plainDictionary is what the data pages of files of format version 1, such as
// Hudi's, call the same encoding.
const plainDictionary = format.Encoding(2)

// allDictionary reports whether every data page refers to the dictionary.
func (c *chunk) allDictionary() bool {
	if d := c.meta.DictionaryPageOffset; d <= 0 || d >= c.meta.DataPageOffset {
		return false
	}
	data := false
	for _, s := range c.meta.EncodingStats {
		if s.PageType != format.DataPage && s.PageType != format.DataPageV2 {
			continue
		}
		if s.Encoding != format.RLEDictionary && s.Encoding != plainDictionary {
			return false
		}
		data = true
	}
	return data
}

func (c *chunk) pages() *parquet.FilePages {
	var at io.ReaderAt = fetched{c.src}
	if c.stream != nil {
		at = c.stream
	}
	return c.chunk.PagesFrom(at)
}

// distinct yields every value at least once: those of the dictionary, where
// that tells all.
func (c *chunk) distinct(emit func(string) error) (err error) {
	defer c.close()
	if c.dictionary {
		pages := c.pages()
		defer func() { err = errors.Join(err, pages.Close()) }()
		d, err := pages.ReadDictionary()
		if err != nil {
			return c.fault(err)
		}
		for i := range d.Len() {
			if err := emit(string(d.Index(int32(i)).ByteArray())); err != nil {
				return err
			}
		}
		return nil
	}
	cursor := column.New(c.pages())
	defer func() { err = errors.Join(err, cursor.Close()) }()
	for left := c.meta.NumValues; left > 0; {
		have, err := cursor.Fill()
		if err != nil {
			return c.fault(err)
		}
		n := int(min(left, int64(have)))
		for _, v := range cursor.Take(n) {
			if v.IsNull() {
				continue
			}
			if err := emit(string(v.ByteArray())); err != nil {
				return err
			}
		}
		left -= int64(n)
	}
	return nil
}

func (c *chunk) fault(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("column %v: %w", c.leaf.Path(), err)
}

// close ends a stream.
func (c *chunk) close() {
	if c.stream != nil {
		c.src.note(c.stream.Err)
		c.stream.Close()
	}
}
