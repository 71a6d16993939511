package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
)

const (
	columnAhead = 2 << 20   // bytes read ahead in each column
	footerAhead = 256 << 10 // bytes of a footer's first request
	pageBuffer  = 64 << 10
)

// parquetFile is an open Parquet part.
type parquetFile struct {
	part  *part
	file  *parquet.File
	spool io.ReaderAt // all its bytes at hand; nil reads ranges of the part
	close func() error
	names []string // of the leaf columns, with dots
}

// openParquet opens a part, whose MD5 sum is checked before anything is read.
func openParquet(ctx context.Context, p *part) (*parquetFile, error) {
	f := &parquetFile{part: p, close: func() error { return nil }}
	var at io.ReaderAt
	switch {
	case p.md5 != "" && p.r.Traits().Name == "local":
		if err := p.verify(ctx); err != nil {
			return nil, err
		}
	case p.md5 != "":
		tmp, err := p.spool(ctx)
		if err != nil {
			return nil, err
		}
		at, f.spool, f.close = tmp, tmp, tmp.Close
	}
	if at == nil {
		at = &window{ctx: ctx, p: p, ahead: footerAhead, limit: p.size}
	}
	err := column.Guard(func() (err error) {
		f.file, err = column.OpenFile(at, p.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(pageBuffer), parquet.OptimisticRead(true))
		return err
	})
	if err != nil {
		return nil, errors.Join(p.damaged(err), f.close())
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

// read hands on all rows; row groups are read by at most workers goroutines at once.
func (f *parquetFile) read(ctx context.Context, workers int, explicit map[string]string, form form, r run) error {
	f.rename(form.fields)
	cols, err := assign(f.names, explicit)
	if err != nil {
		return err
	}
	s := form.spelling
	s.latest = cols.has(roleLatest)
	readers := make(map[int]func(*raw, parquet.Value))
	for role, i := range cols {
		read, err := f.reader(role, i, r.clock)
		if err != nil {
			return err
		}
		readers[i] = read
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for ordinal := range f.file.RowGroups() {
		g.Go(func() error {
			b := newBatch(s, r)
			err := f.group(ctx, ordinal, cols, readers, b)
			r.count(b.counts)
			return err
		})
	}
	return g.Wait()
}

// group reads the columns of one row group side by side.
func (f *parquetFile) group(ctx context.Context, ordinal int, cols columns, readers map[int]func(*raw, parquet.Value), b *batch) (err error) {
	var cursors []*column.Cursor
	var sets []func(*raw, parquet.Value)
	defer func() { err = errors.Join(err, column.Close(cursors)) }()
	group := f.file.RowGroups()[ordinal]
	chunks := group.ColumnChunks()
	var idle map[int]bool
	if err := column.Guard(func() error { idle = f.idle(group, cols); return nil }); err != nil {
		return f.part.damaged(err)
	}
	for i, read := range readers {
		if idle[i] {
			continue
		}
		chunk, ok := chunks[i].(*parquet.FileColumnChunk)
		if !ok || chunk.NumValues() != group.NumRows() {
			return f.part.damaged(fmt.Errorf("the column %s has %d values in %d rows", f.names[i], chunks[i].NumValues(), group.NumRows()))
		}
		at := f.spool
		if at == nil {
			at = &window{ctx: ctx, p: f.part, ahead: columnAhead, limit: f.chunkEnd(ordinal, i)}
		}
		cursors, sets = append(cursors, column.New(chunk.PagesFrom(at))), append(sets, read)
	}
	var rows []raw
	for left := group.NumRows(); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := column.Fill(cursors, left)
		if err != nil {
			return f.part.damaged(fmt.Errorf("%d rows from the end of a row group: %w", left, err))
		}
		rows = slices.Grow(rows[:0], n)[:n]
		for i := range n {
			rows[i] = raw{size: -1}
		}
		for i, c := range cursors {
			for row, v := range c.Take(n) {
				if !v.IsNull() {
					sets[i](&rows[row], v)
				}
			}
		}
		for i := range n {
			if err := b.add(&rows[i]); err != nil {
				return err
			}
		}
		left -= int64(n)
	}
	return b.flush()
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
func (f *parquetFile) idle(group parquet.RowGroup, cols columns) map[int]bool {
	out := make(map[int]bool)
	for _, r := range []role{roleMarker, roleDirectory, roleLatest} {
		i, ok := cols[r]
		if !ok || !constant(group.ColumnChunks()[i], r == roleLatest) {
			continue
		}
		out[i] = true
		if version, ok := cols[roleVersion]; ok && r == roleLatest {
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
	return f.part.failed(lake.Unsupported, fmt.Errorf("the column %s of type %s can't hold %s", f.names[i], t, what), "Cast it in the query that writes the list, or name another column with --inventory-columns.")
}
