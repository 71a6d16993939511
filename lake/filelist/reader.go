package filelist

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
)

// Reader reads a list that Writer wrote. Safe for concurrent use if the
// underlying io.ReaderAt is.
type Reader struct {
	file   *parquet.File
	meta   map[string]string
	digest string
}

// Open reads the footer of a list of size bytes.
//
// Errors: Damaged if it is cut, no Parquet file or no list of lakesweep's.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	var file *parquet.File
	err := column.Guard(func() (err error) {
		file, err = column.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return nil, damaged(err)
	}
	list := &Reader{file: file, meta: make(map[string]string)}
	for _, kv := range file.Metadata().KeyValueMetadata {
		if kv.Key == DigestKey {
			list.digest = kv.Value
		} else {
			list.meta[kv.Key] = kv.Value
		}
	}
	if list.digest == "" {
		return nil, damaged(fmt.Errorf("no %s in the footer: no list of lakesweep's", DigestKey))
	}
	if err := errors.Join(sameColumns(file.Schema()), sameCodec(file)); err != nil {
		return nil, damaged(err)
	}
	return list, nil
}

// sameCodec checks that every column chunk is packed as Writer packs: other
// codecs would believe a damaged length and ask for any amount of memory.
func sameCodec(file *parquet.File) error {
	for _, group := range file.Metadata().RowGroups {
		for _, column := range group.Columns {
			if column.MetaData.Codec != format.Zstd {
				return fmt.Errorf("a column is packed with %s", column.MetaData.Codec)
			}
		}
	}
	return nil
}

// sameColumns checks that every column of the file is one of row's, of the same
// type. Lists of versions that knew no blobs have no referrers.
func sameColumns(have *parquet.Schema) error {
	want := parquet.SchemaOf(row{})
	for _, path := range want.Columns() {
		w, _ := want.Lookup(path...)
		h, ok := have.Lookup(path...)
		if !ok && path[0] == columnNames[colReferrer] {
			continue
		}
		if !ok {
			return fmt.Errorf("no column %s", path[0])
		}
		if h.Node.Type().String() != w.Node.Type().String() || h.MaxRepetitionLevel != w.MaxRepetitionLevel || h.MaxDefinitionLevel != w.MaxDefinitionLevel {
			return fmt.Errorf("the column %s is %s, not %s", path[0], h.Node.Type(), w.Node.Type())
		}
	}
	return nil
}

// NumRows returns the number of rows as the footer says it.
func (r *Reader) NumRows() int64 { return r.file.NumRows() }

// Metadata returns the footer's value of key, "" if there is none.
func (r *Reader) Metadata(key string) string { return r.meta[key] }

// Digest returns the digest in the footer; Rows and Verify check it.
func (r *Reader) Digest() string { return r.digest }

// Head returns the head of a plan, with Digest filled in.
//
// Errors: Damaged if the list is no plan or its head can't be read.
func (r *Reader) Head() (Head, error) {
	text, ok := r.meta[HeadKey]
	if !ok {
		return Head{}, &lake.Error{Op: "read plan", Kind: lake.Damaged, Err: errors.New("a list of objects, but no plan"),
			Hint: "Name a file that `lakesweep plan --out` wrote."}
	}
	var h Head
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return Head{}, damaged(fmt.Errorf("head: %w", err))
	}
	h.Digest = r.digest
	return h, nil
}

// Rows yields all rows in the order in which they were written. The digest is
// checked at the end: what was yielded counts only if no error follows.
//
// Shape: any number of rows; memory for one page of each column.
// Errors: Damaged, once, as the last element.
func (r *Reader) Rows() iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		stopped := false
		err := r.read(func(v lake.Verdict) bool {
			stopped = !yield(v, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(lake.Verdict{}, damaged(err))
		}
	}
}

// Verify reads all rows and checks the digest.
//
// Errors: Damaged.
func (r *Reader) Verify() error {
	for _, err := range r.Rows() {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) read(yield func(lake.Verdict) bool) error {
	sum, n := sha256.New(), int64(0)
	var scratch []byte
	for v, err := range ahead(r.decoded()) {
		if err != nil {
			return err
		}
		scratch = appendVerdict(scratch[:0], &v)
		hashRecord(sum, scratch)
		n++
		if !yield(v) {
			return nil
		}
	}
	return r.check(sum, n)
}

// decoded yields the rows of all groups, unchecked.
func (r *Reader) decoded() iter.Seq2[lake.Verdict, error] {
	return func(yield func(lake.Verdict, error) bool) {
		var last spellings
		for _, group := range r.file.RowGroups() {
			more, err := r.group(group, &last, func(v lake.Verdict) bool { return yield(v, nil) })
			if err != nil {
				yield(lake.Verdict{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// group reads the columns of a row group side by side; more is false if yield
// wants no more.
func (r *Reader) group(group parquet.RowGroup, last *spellings, yield func(lake.Verdict) bool) (more bool, err error) {
	var cursors []*column.Cursor
	defer func() { err = errors.Join(err, column.Close(cursors)) }()
	chunks := group.ColumnChunks()
	var read []int // the column of each cursor
	for i, name := range columnNames {
		leaf, ok := r.file.Schema().Lookup(name)
		if !ok && i == colReferrer {
			continue
		}
		if !ok || leaf.ColumnIndex >= len(chunks) || chunks[leaf.ColumnIndex].NumValues() != group.NumRows() {
			return false, fmt.Errorf("the column %s hasn't one value a row", name)
		}
		read = append(read, i)
		cursors = append(cursors, column.New(chunks[leaf.ColumnIndex].Pages()))
	}
	for left := group.NumRows(); left > 0; {
		n, err := column.Fill(cursors, left)
		if err != nil {
			return false, err
		}
		var values [columns][]parquet.Value
		for i, c := range cursors {
			values[read[i]] = c.Take(n)
		}
		for i := range n {
			v, err := last.verdict(&values, i)
			if err != nil {
				return false, err
			}
			if !yield(v) {
				return false, nil
			}
		}
		left -= int64(n)
	}
	return true, nil
}

// check compares the rows read with what the footer says of them.
func (r *Reader) check(sum hash.Hash, n int64) error {
	if n != r.NumRows() {
		return fmt.Errorf("%d rows, the footer says %d", n, r.NumRows())
	}
	if have := finish(sum, n, r.meta); have != r.digest {
		return fmt.Errorf("digest %s, the footer says %s: changed since it was written", have, r.digest)
	}
	return nil
}

func damaged(err error) error {
	return &lake.Error{Op: "read list", Kind: lake.Damaged, Err: err, Hint: "Make the plan or list again; nothing was deleted."}
}
