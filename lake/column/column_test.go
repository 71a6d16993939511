package column_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake/column"
)

type row struct {
	Name  *string `parquet:"name,optional,dict"`
	Value int64   `parquet:"value"`
}

// written returns a file of n rows in small pages and row groups; every third name is null.
func written(t *testing.T, n int) *parquet.File {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(1500))
	for i := range n {
		r := row{Value: int64(i)}
		if name := string(rune('a' + i%7)); i%3 > 0 {
			r.Name = &name
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestColumnsSideBySide(t *testing.T) {
	const rows = 4000
	i := 0
	for _, group := range written(t, rows).RowGroups() {
		var cursors []*column.Cursor
		for _, chunk := range group.ColumnChunks() {
			cursors = append(cursors, column.New(chunk.Pages()))
		}
		for left := group.NumRows(); left > 0; {
			n, err := column.Fill(cursors, left)
			if err != nil || n == 0 {
				t.Fatal(n, err)
			}
			names, values := cursors[0].Take(n), cursors[1].Take(n)
			for at := range n {
				if values[at].Int64() != int64(i) || names[at].IsNull() != (i%3 == 0) || i%3 > 0 && names[at].String() != string(rune('a'+i%7)) {
					t.Fatalf("row %d: %v, %v", i, names[at], values[at])
				}
				i++
			}
			left -= int64(n)
		}
		if _, err := column.Fill(cursors, 1); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after the end: %v", err)
		}
		if err := column.Close(cursors); err != nil {
			t.Fatal(err)
		}
	}
	if i != rows {
		t.Fatalf("%d rows", i)
	}
}

func TestGuard(t *testing.T) {
	if err := column.Guard(func() error { panic("index out of range") }); err == nil {
		t.Error("no error for a panic")
	}
	if err := column.Guard(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
}
