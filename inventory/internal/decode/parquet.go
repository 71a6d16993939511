package decode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

const (
	columnAhead = 2 << 20   // bytes read ahead in each column
	footerAhead = 256 << 10 // bytes of a footer's first request
	pageBuffer  = 64 << 10
)

// parquetFile is an open Parquet part.
type parquetFile struct {
	part  *part.Part
	file  *parquet.File
	spool io.ReaderAt // all its bytes at hand; nil reads ranges of the part
	close func() error
	names []string // of the leaf columns, with dots
}

// openParquet opens a part, whose MD5 sum is checked before anything is read.
func openParquet(ctx context.Context, p *part.Part) (*parquetFile, error) {
	f := &parquetFile{part: p, close: func() error { return nil }}
	var at io.ReaderAt
	switch {
	case p.MD5 != "" && p.Reader.Traits().Name == "local":
		if err := p.Verify(ctx); err != nil {
			return nil, err
		}
	case p.MD5 != "":
		tmp, err := p.Spool(ctx)
		if err != nil {
			return nil, err
		}
		at, f.spool, f.close = tmp, tmp, tmp.Close
	}
	if at == nil {
		at = part.NewWindow(ctx, p, footerAhead, p.Size)
	}
	err := column.Guard(func() (err error) {
		f.file, err = column.OpenFile(at, p.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(pageBuffer), parquet.OptimisticRead(true))
		return err
	})
	if err != nil {
		return nil, errors.Join(p.Damaged(err), f.close())
	}
	for _, path := range f.file.Schema().Columns() {
		f.names = append(f.names, strings.Join(path, "."))
	}
	return f, nil
}

// rename calls the columns by what a table calls them today: Iceberg's by their
// ids, however they were called when the file was written. Columns that the
// table has no longer go without a name.
// Source: Iceberg Table Spec, "Column Projection".
func (f *parquetFile) rename(fields map[int]string) {
	if len(fields) == 0 {
		return
	}
	for _, c := range f.file.Root().Columns() {
		if id := c.ID(); c.Leaf() && id > 0 {
			f.names[c.Index()] = fields[id]
		}
	}
}

// own returns the head of a plan or a list of ours, nil if the file is neither.
//
// Errors: Damaged for a head that can't be read.
func (f *parquetFile) own() (*Own, error) {
	if text, ok := f.file.Lookup(filelist.HeadKey); ok {
		var h filelist.Head
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return nil, f.part.Damaged(fmt.Errorf("head of the plan: %w", err))
		}
		return &Own{Kind: "plan", root: h.Table, Taken: h.Created}, nil
	}
	if text, ok := f.file.Lookup(filelist.ListKey); ok {
		var h filelist.ListHead
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return nil, f.part.Damaged(fmt.Errorf("head of the list: %w", err))
		}
		return &Own{Kind: "list", root: h.Root, Taken: h.Taken}, nil
	}
	return nil, nil
}

// read hands on all rows; row groups are read by at most workers goroutines at once.
func (f *parquetFile) read(ctx context.Context, workers int, form *Form, r rowset.Run) error {
	f.rename(form.Fields)
	cols, err := columns.Assign(f.names, form.Explicit)
	if err != nil {
		return err
	}
	s := form.Spelling
	s.Latest = cols.Has(columns.Latest)
	readers := make(map[int]func(*rowset.Raw, parquet.Value))
	for role, i := range cols {
		read, err := f.reader(role, i, r.Clock)
		if err != nil {
			return err
		}
		readers[i] = read
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for ordinal := range f.file.RowGroups() {
		g.Go(func() error {
			b := rowset.NewBatch(s, r)
			err := f.group(ctx, ordinal, cols, readers, b)
			r.Tally.Add(b.Counts)
			return err
		})
	}
	return g.Wait()
}

// group reads the columns of one row group side by side.
func (f *parquetFile) group(ctx context.Context, ordinal int, cols columns.Columns, readers map[int]func(*rowset.Raw, parquet.Value), b *rowset.Batch) (err error) {
	var cursors []*column.Cursor
	var sets []func(*rowset.Raw, parquet.Value)
	defer func() { err = errors.Join(err, column.Close(cursors)) }()
	group := f.file.RowGroups()[ordinal]
	chunks := group.ColumnChunks()
	var idle map[int]bool
	if err := column.Guard(func() error { idle = f.idle(group, cols); return nil }); err != nil {
		return f.part.Damaged(err)
	}
	for i, read := range readers {
		if idle[i] {
			continue
		}
		chunk, ok := chunks[i].(*parquet.FileColumnChunk)
		if !ok || chunk.NumValues() != group.NumRows() {
			return f.part.Damaged(fmt.Errorf("the column %s has %d values in %d rows", f.names[i], chunks[i].NumValues(), group.NumRows()))
		}
		at := f.spool
		if at == nil {
			at = part.NewWindow(ctx, f.part, columnAhead, f.chunkEnd(ordinal, i))
		}
		cursors, sets = append(cursors, column.New(chunk.PagesFrom(at))), append(sets, read)
	}
	var rows []rowset.Raw
	for left := group.NumRows(); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := column.Fill(cursors, left)
		if err != nil {
			return f.part.Damaged(fmt.Errorf("%d rows from the end of a row group: %w", left, err))
		}
		rows = slices.Grow(rows[:0], n)[:n]
		for i := range n {
			rows[i] = rowset.Raw{Size: -1}
		}
		for i, c := range cursors {
			for row, v := range c.Take(n) {
				if !v.IsNull() {
					sets[i](&rows[row], v)
				}
			}
		}
		for i := range n {
			if err := b.Add(&rows[i]); err != nil {
				return err
			}
		}
		left -= int64(n)
	}
	return b.Flush()
}

// chunkEnd returns where in the file the i-th column of a row group ends.
func (f *parquetFile) chunkEnd(ordinal, i int) int64 {
	meta := &f.file.Metadata().RowGroups[ordinal].Columns[i].MetaData
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		start = min(start, meta.DictionaryPageOffset)
	}
	return start + meta.TotalCompressedSize
}

// idle returns the columns of a row group that its statistics show to say
// nothing: flags that are false on every row, and, where every row is the latest
// version, that flag and the versions' ids.
func (f *parquetFile) idle(group parquet.RowGroup, cols columns.Columns) map[int]bool {
	out := make(map[int]bool)
	for _, r := range []columns.Role{columns.Marker, columns.Directory, columns.Latest} {
		i, ok := cols[r]
		if !ok || !constant(group.ColumnChunks()[i], r == columns.Latest) {
			continue
		}
		out[i] = true
		if version, ok := cols[columns.Version]; ok && r == columns.Latest {
			out[version] = true
		}
	}
	return out
}

// constant reports whether a column holds nothing but want, without nulls.
func constant(c parquet.ColumnChunk, want bool) bool {
	chunk, ok := c.(*parquet.FileColumnChunk)
	if !ok || chunk.Type().Kind() != parquet.Boolean {
		return false
	}
	low, high, ok := chunk.Bounds()
	return ok && low.Boolean() == want && high.Boolean() == want && chunk.NullCount() == 0
}

func (f *parquetFile) typeError(i int, t parquet.Type, what string) error {
	return f.part.Failed(lake.Unsupported, fmt.Errorf("the column %s of type %s can't hold %s", f.names[i], t, what), "Cast it in the query that writes the list, or name another column with --inventory-columns.")
}
