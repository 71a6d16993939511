package shape

import (
	"bytes"
	"slices"
	"testing"

	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/lake"
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
		s, err := Parse(schema)
		if err != nil {
			return
		}
		n := 0
		r := Reader{Schema: s, Emit: func(ref Reference) error {
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
		err = r.Read(record)
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
