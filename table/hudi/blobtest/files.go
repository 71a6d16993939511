// Package blobtest makes base files, log files and small tables whose records
// refer to external blobs, for tests.
package blobtest

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/twmb/avro"

	"github.com/lakesweep/lakesweep/table/hudi/logblock"
)

// Ref is a record with its reference. The zero one has a null blob.
type Ref struct {
	Key     string
	Path    string
	Managed bool
	Inline  bool   // of type INLINE, with data; a path beside it is left over
	Column  string // "img" (or ""), "other", "st.b", "pics"
	Length  int64  // of a range that begins a byte into the file; 0: the whole file
}

// M is a managed reference in the column img.
func M(path string) Ref { return Ref{Key: "k-" + path, Path: path, Managed: true} }

// Schema is the Avro schema of the records, as Hudi 1.2.0 writes it: the
// second blob column and those within refer to the first by its name.
const Schema = `{"type":"record","name":"t_record","namespace":"hoodie.t","fields":[
{"name":"_hoodie_record_key","type":["null","string"],"default":null},
{"name":"img","type":["null",{"type":"record","name":"blob","namespace":"","logicalType":"blob","fields":[
 {"name":"type","type":{"type":"enum","name":"blob_storage_type","symbols":["INLINE","OUT_OF_LINE"]}},
 {"name":"data","type":["null","bytes"],"default":null},
 {"name":"reference","type":["null",{"type":"record","name":"reference","fields":[
  {"name":"external_path","type":"string"},{"name":"offset","type":["null","long"],"default":null},
  {"name":"length","type":["null","long"],"default":null},{"name":"managed","type":"boolean"}]}],"default":null}]}],"default":null},
{"name":"other","type":["null","blob"],"default":null},
{"name":"st","type":["null",{"type":"record","name":"st_record","namespace":"hoodie.t","fields":[
 {"name":"n","type":"long"},{"name":"b","type":["null",".blob"],"default":null}]}],"default":null},
{"name":"pics","type":["null",{"type":"array","items":["null",{"type":"record","name":"pic","namespace":"hoodie.t","fields":[
 {"name":"type","type":"string"},{"name":"data","type":["null","bytes"]},
 {"name":"reference","type":["null",{"type":"record","name":"pic_reference","fields":[
  {"name":"external_path","type":"string"},{"name":"offset","type":["null","long"]},{"name":"length","type":["null","long"]},{"name":"managed","type":"boolean"}]}]}]}]}],"default":null},
{"name":"labels","type":{"type":"map","values":"string"}}]}`

type reference struct {
	Path    string `parquet:"external_path" avro:"external_path"`
	Offset  *int64 `parquet:"offset,optional" avro:"offset"`
	Length  *int64 `parquet:"length,optional" avro:"length"`
	Managed bool   `parquet:"managed" avro:"managed"`
}

type blob struct {
	Type      string     `parquet:"type" avro:"type"`
	Data      []byte     `parquet:"data,optional" avro:"data"`
	Reference *reference `parquet:"reference,optional" avro:"reference"`
}

type inner struct {
	N int64 `parquet:"n" avro:"n"`
	B *blob `parquet:"b,optional" avro:"b"`
}

type record struct {
	Key    string            `parquet:"_hoodie_record_key" avro:"_hoodie_record_key"`
	Img    *blob             `parquet:"img,optional" avro:"img"`
	Other  *blob             `parquet:"other,optional" avro:"other"`
	St     *inner            `parquet:"st,optional" avro:"st"`
	Pics   []blob            `parquet:"pics,list" avro:"pics"`
	Labels map[string]string `parquet:"labels" avro:"labels"`
}

func rows(refs []Ref) []record {
	out := make([]record, 0, len(refs))
	for _, r := range refs {
		var b *blob
		switch {
		case r.Inline:
			b = &blob{Type: "INLINE", Data: []byte("x")}
			if r.Path != "" {
				b.Reference = &reference{Path: r.Path, Managed: r.Managed}
			}
		case r.Path != "":
			b = &blob{Type: "OUT_OF_LINE", Reference: &reference{Path: r.Path, Managed: r.Managed}}
			if r.Length > 0 {
				first := int64(1)
				b.Reference.Offset, b.Reference.Length = &first, &r.Length
			}
		}
		row := record{Key: r.Key, Labels: map[string]string{"a": "b"}}
		switch {
		case b == nil:
		case r.Column == "other":
			row.Other = b
		case r.Column == "st.b":
			row.St = &inner{N: 7, B: b}
		case r.Column == "pics":
			row.Pics = []blob{*b}
		default:
			row.Img = b
		}
		out = append(out, row)
	}
	return out
}

// Base is a base file of the records. With avro its footer has the Avro
// schema, as files of Hudi's Avro writer do. Each row group holds at most
// three records.
func Base(t testing.TB, withAvro bool, refs ...Ref) []byte {
	t.Helper()
	var out bytes.Buffer
	o := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(3)}
	if withAvro {
		o = append(o, parquet.KeyValueMetadata("parquet.avro.schema", Schema))
	}
	w := parquet.NewGenericWriter[record](&out, o...)
	_, err := w.Write(rows(refs))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Plain is a base file of the records' column img in dictionary encoding.
func Plain(t testing.TB, refs ...Ref) []byte {
	t.Helper()
	return dictionary(t, refs)
}

// Overflowing is like Plain, but most values lie behind a full dictionary, in
// pages of their own encoding.
func Overflowing(t testing.TB, refs ...Ref) []byte {
	t.Helper()
	return dictionary(t, refs, parquet.DictionaryMaxBytes(1<<10), parquet.PageBufferSize(1<<9))
}

func dictionary(t testing.TB, refs []Ref, o ...parquet.WriterOption) []byte {
	t.Helper()
	type dictRef struct {
		Path    string `parquet:"external_path,dict"`
		Managed bool   `parquet:"managed"`
	}
	type dictBlob struct {
		Type      string   `parquet:"type,dict"`
		Reference *dictRef `parquet:"reference,optional"`
	}
	type dictRow struct {
		Img *dictBlob `parquet:"img,optional"`
	}
	var list []dictRow
	for _, r := range refs {
		list = append(list, dictRow{&dictBlob{"OUT_OF_LINE", &dictRef{r.Path, r.Managed}}})
	}
	var out bytes.Buffer
	if err := parquet.Write(&out, list, o...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Log appends a data block with the records to a log file.
func Log(t testing.TB, dst []byte, instant string, refs ...Ref) []byte {
	t.Helper()
	return logblock.Append(dst, logblock.AvroData, header(instant, Schema), content(t, refs))
}

// CDC appends a block of changes, whose images before hold the records.
func CDC(t testing.TB, dst []byte, instant string, refs ...Ref) []byte {
	t.Helper()
	schema := `{"type":"record","name":"cdc","fields":[{"name":"op","type":"string"},{"name":"before","type":["null",` + Schema + `]}]}`
	s := parse(t, schema)
	type change struct {
		Op     string  `avro:"op"`
		Before *record `avro:"before"`
	}
	out := binary.BigEndian.AppendUint32(nil, 3)
	out = binary.BigEndian.AppendUint32(out, uint32(len(refs)))
	for _, r := range rows(refs) {
		body, err := s.Encode(&change{"u", &r})
		if err != nil {
			t.Fatal(err)
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
	}
	return logblock.Append(dst, logblock.CDCData, header(instant, schema), out)
}

// Partial appends a block of updates that hold the key and the blob alone.
func Partial(t testing.TB, dst []byte, instant string, refs ...Ref) []byte {
	t.Helper()
	schema := Schema[:strings.Index(Schema, `{"name":"other"`)]
	schema = strings.TrimSuffix(strings.TrimSpace(schema), ",") + "]}"
	s := parse(t, schema)
	out := binary.BigEndian.AppendUint32(nil, 3)
	out = binary.BigEndian.AppendUint32(out, uint32(len(refs)))
	for _, r := range rows(refs) {
		body, err := s.Encode(&struct {
			Key string `avro:"_hoodie_record_key"`
			Img *blob  `avro:"img"`
		}{r.Key, r.Img})
		if err != nil {
			t.Fatal(err)
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
	}
	h := header(instant, schema)
	h[logblock.IsPartial] = "true"
	return logblock.Append(dst, logblock.AvroData, h, out)
}

// ParquetLog appends a data block in Parquet.
func ParquetLog(t testing.TB, dst []byte, instant string, refs ...Ref) []byte {
	t.Helper()
	return logblock.Append(dst, logblock.ParquetData, header(instant, Schema), Base(t, true, refs...))
}

// Deletes appends a delete block.
func Deletes(t testing.TB, dst []byte, instant string, keys ...string) []byte {
	t.Helper()
	d, err := logblock.NewDeletions()
	if err != nil {
		t.Fatal(err)
	}
	var list []logblock.DeletedKey
	for _, k := range keys {
		list = append(list, logblock.DeletedKey{RecordKey: k})
	}
	body, err := d.Encode(list)
	if err != nil {
		t.Fatal(err)
	}
	return logblock.Append(dst, logblock.Delete, header(instant, ""), body)
}

func header(instant, schema string) map[logblock.Header]string {
	h := map[logblock.Header]string{logblock.InstantTime: instant}
	if schema != "" {
		h[logblock.Schema] = schema
	}
	return h
}

func parse(t testing.TB, schema string) *avro.Schema {
	t.Helper()
	s, err := avro.Parse(schema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func content(t testing.TB, refs []Ref) []byte {
	t.Helper()
	s := parse(t, Schema)
	out := binary.BigEndian.AppendUint32(nil, 3)
	out = binary.BigEndian.AppendUint32(out, uint32(len(refs)))
	for _, r := range rows(refs) {
		body, err := s.Encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
	}
	return out
}

// Large is a base file of one row group without compression or dictionaries.
func Large(t testing.TB, refs ...Ref) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[record](&out, parquet.Compression(&parquet.Uncompressed))
	_, err := w.Write(rows(refs))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TextCDC appends a block of one change, whose images are text.
func TextCDC(t testing.TB, dst []byte, instant, before, after string) []byte {
	t.Helper()
	schema := `{"type":"record","name":"CDC","fields":[{"name":"op","type":"string"},{"name":"ts_ms","type":"string"},{"name":"before","type":["null","string"]},{"name":"after","type":["null","string"]}]}`
	type change struct {
		Op     string  `avro:"op"`
		At     string  `avro:"ts_ms"`
		Before *string `avro:"before"`
		After  *string `avro:"after"`
	}
	body, err := parse(t, schema).Encode(&change{"u", "1", &before, &after})
	if err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, 3)
	out = binary.BigEndian.AppendUint32(out, 1)
	out = append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
	return logblock.Append(dst, logblock.CDCData, header(instant, schema), out)
}
