package blob

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// A record that the Avro library reads whole has the same references here.
func FuzzAvroRecord(f *testing.F) {
	f.Add(blobtest.Schema, []byte{2, 2, 'k', 0, 0, 0, 0, 0})
	f.Add(`["null",{"type":"record","name":"r","fields":[{"name":"reference","type":{"type":"record","name":"x","fields":[{"name":"external_path","type":"string"}]}}]}]`, []byte{2, 2, 'p'})
	f.Add(`{"type":"array","items":{"type":"map","values":{"type":"fixed","name":"f","size":2}}}`, []byte{2, 2, 2, 'a', 1, 2, 0, 0})
	f.Add(`{"type":"record","name":"r","fields":[{"name":"reference","type":{"type":"record","name":"x","fields":[{"name":"external_path","type":["string",{"type":"enum","name":"e","symbols":["a","b"]}]}]}}]}`, []byte{2, 2})
	f.Add(`{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]}]}`, []byte{2, 2, 0})
	f.Fuzz(func(t *testing.T, schema string, record []byte) {
		s, err := parseSchema(schema)
		if err != nil {
			return
		}
		n := 0
		r := recordReader{schema: s, emit: func(ref Reference) error {
			n++
			symbol := false // of an enum: it stands in the schema
			for _, named := range s.named {
				symbol = symbol || slices.Contains(named.symbols, ref.Path)
			}
			if ref.Path == "" || !symbol && !bytes.Contains(record, []byte(ref.Path)) {
				t.Fatalf("%+v", ref)
			}
			return nil
		}}
		err = r.read(record)
		oracle, oracleErr := avro.Parse(schema)
		if oracleErr != nil {
			return
		}
		var v any
		rest, oracleErr := oracle.Decode(record, &v)
		if oracleErr == nil && len(rest) == 0 && err != nil && lake.KindOf(err) != lake.Damaged {
			t.Fatalf("%v", err)
		}
		if err == nil && !s.shaped && n > 0 {
			t.Fatal("references in a schema without any")
		}
	})
}

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
			_, err := (&logReader{done, new(schemas)}).read(t.Context(), bytes.NewReader(data), int64(len(data)), func(Reference, bool) error { return nil })
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
