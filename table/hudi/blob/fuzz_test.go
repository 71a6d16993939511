package blob

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// Whatever stands in a ledger, opening and looking up ends.
func FuzzLedger(f *testing.F) {
	names, err := lake.NewBlobNames(lake.BlobOptions{})
	if err != nil {
		f.Fatal(err)
	}
	l := OpenLedger(f.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "b", Path: "t"})
	file := File{Partition: "p=1", Key: "p=1/x", Size: 1, ETag: "e"}
	b, err := l.open(names)
	if err == nil {
		err = b.add(file, entry{votes: []vote{{1, mark{1}}, {2, mark{}}, {3, mark{}}}, passed: []uint64{4}, ruled: []bounds{{"a", "b"}}})
	}
	if err == nil {
		err = b.finish(true)
	}
	if err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(l.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &Ledger{filepath.Join(t.TempDir(), "x")}
		if err := os.WriteFile(l.path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := l.open(names)
		if err != nil {
			t.Fatal(err)
		}
		e, ok, err := b.lookup(file)
		if err != nil || ok && bytes.Equal(data, good) && (len(e.votes) != 3 || e.ruled[0].greatest != "b") {
			t.Fatal(e, err)
		}
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// No bytes make reading a file panic, hang or end without a word.
func FuzzFiles(f *testing.F) {
	ref := blobtest.M("s3://media/a")
	f.Add(blobtest.Base(f, true, ref), false)
	f.Add(blobtest.Plain(f, ref), false)
	f.Add([]byte("\x15\x04\x19\xfc\xff\xff\xff\x7f\x00\x09\x00\x00\x00PAR1"), false) // a list of 2^28 columns
	f.Add(blobtest.Log(f, nil, "1", ref), true)
	f.Add(blobtest.ParquetLog(f, nil, "1", ref), true)
	done := func(context.Context, string) (bool, error) { return true, nil }
	f.Fuzz(func(t *testing.T, data []byte, log bool) {
		if log {
			_, err := (&logReader{done, new(schemas)}).read(t.Context(), bytes.NewReader(data), int64(len(data)), func(shape.Reference, bool) error { return nil })
			if err != nil && !unreadable(err) {
				t.Fatal(err)
			}
			return
		}
		s := mem.New(mem.Options{})
		s.Put("f", data, time.Time{})
		p, err := openParquet(newSource(t.Context(), s, "f", int64(len(data))), new(schemas))
		if err == nil {
			err = p.paths(nil, func(string) error { return nil })
		}
		if err != nil && !unreadable(err) && err != io.EOF {
			t.Fatal(err)
		}
	})
}
