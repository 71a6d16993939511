package blobqueue

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/column"
)

const (
	rowsAtOnce = 512
	rowGroup   = 1 << 16
)

// newWriter starts a Parquet file of rows of type T.
//
// Memory: one row group, about 10 MiB.
func newWriter[T any](out io.Writer) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](out, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup), parquet.CreatedBy("lakesweep", "1", ""))
}

// open reads the footer of a Parquet file that has the columns named.
//
// Errors: Damaged.
func open(name string, at io.ReaderAt, size int64, columns ...string) (f *parquet.File, err error) {
	defer recovered(name, &err)
	if f, err = column.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, err
	}
	for _, c := range columns {
		leaf, ok := f.Schema().Lookup(c)
		if !ok || leaf.Node.Type().Kind() != parquet.ByteArray || leaf.MaxRepetitionLevel > 0 {
			return nil, fmt.Errorf("no text column %s", c)
		}
	}
	return f, nil
}

// rows hands all rows of r to each, until it returns false.
//
// Errors: Damaged if the rows end early.
func rows[T any](name string, group parquet.RowGroup, each func(*T) bool) (err error) {
	defer recovered(name, &err)
	in := parquet.NewGenericRowGroupReader[T](group)
	defer func() { err = errors.Join(err, in.Close()) }()
	buffer, n := make([]T, rowsAtOnce), int64(0)
	for {
		clear(buffer)
		got, err := in.Read(buffer)
		for i := range buffer[:got] {
			n++
			if !each(&buffer[i]) {
				return nil
			}
		}
		switch {
		case err == io.EOF && n == group.NumRows():
			return nil
		case err == io.EOF:
			return fmt.Errorf("%d rows of %d", n, group.NumRows())
		case err != nil:
			return err
		case got == 0:
			return io.ErrNoProgress
		}
	}
}

// recovered makes err Damaged, and an error of a panic: on damaged bytes the
// library may run past a slice.
func recovered(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("malformed Parquet: %v", p)
	}
	if *err == nil {
		return
	}
	if _, ok := errors.AsType[*lake.Error](*err); !ok {
		*err = &lake.Error{Op: "read blob queue", Key: lake.Key(name), Kind: lake.Damaged, Err: *err,
			Hint: "The queue and its sidecars are memory only: without them blobs stay that could go. Move the damaged file away if it can't be restored."}
	}
}
