package blobtest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Layout says how a base file is laid out.
type Layout struct {
	Rows       int  // of a row group at most; 0: all
	Dictionary bool // the path column is in dictionary encoding
	Bits       uint // a value in the path column's Bloom filters; 0: there are none
	Pad        int  // bytes of another column, which follows it, in each row
}

// PathColumn is the path of the path column of files of Laid.
var PathColumn = []string{"img", "reference", "external_path"}

// Laid is a base file of the records' column img, without compression.
func Laid(t testing.TB, l Layout, refs ...Ref) []byte {
	t.Helper()
	path := parquet.String()
	if l.Dictionary {
		path = parquet.Encoded(path, &parquet.RLEDictionary)
	} else {
		path = parquet.Encoded(path, &parquet.Plain)
	}
	schema := parquet.NewSchema("table", parquet.Group{
		"img": parquet.Optional(parquet.Group{
			"type":      parquet.String(),
			"reference": parquet.Optional(parquet.Group{"external_path": parquet.Optional(path), "managed": parquet.Leaf(parquet.BooleanType)}),
		}),
		"pad": parquet.Optional(parquet.Leaf(parquet.ByteArrayType)),
	})
	o := []parquet.WriterOption{schema, parquet.Compression(&parquet.Uncompressed), parquet.DictionaryMaxBytes(1 << 30)}
	if l.Rows > 0 {
		o = append(o, parquet.MaxRowsPerRowGroup(int64(l.Rows)))
	}
	if l.Bits > 0 {
		o = append(o, parquet.BloomFilters(parquet.SplitBlockFilter(l.Bits, PathColumn...)))
	}
	var out bytes.Buffer
	w := parquet.NewWriter(&out, o...)
	for _, r := range refs {
		var row parquet.Row
		if r.Path == "" {
			row = parquet.Row{parquet.NullValue().Level(0, 1, 0), parquet.NullValue().Level(0, 1, 1), parquet.ByteArrayValue([]byte("INLINE")).Level(0, 1, 2)}
		} else {
			row = parquet.Row{parquet.ByteArrayValue([]byte(r.Path)).Level(0, 3, 0), parquet.BooleanValue(r.Managed).Level(0, 2, 1), parquet.ByteArrayValue([]byte("OUT_OF_LINE")).Level(0, 1, 2)}
		}
		pad := parquet.NullValue().Level(0, 0, 3)
		if l.Pad > 0 {
			pad = parquet.ByteArrayValue(make([]byte, l.Pad)).Level(0, 1, 3)
		}
		if _, err := w.WriteRows([]parquet.Row{append(row, pad)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// EditFooter returns a copy of a Parquet file with another footer.
func EditFooter(t testing.TB, data []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	end := len(data) - 8
	start := end - int(binary.LittleEndian.Uint32(data[end:]))
	var footer format.FileMetaData
	protocol := new(thrift.CompactProtocol)
	if err := thrift.Unmarshal(protocol, data[start:end], &footer); err != nil {
		t.Fatal(err)
	}
	edit(&footer)
	text, err := thrift.Marshal(protocol, &footer)
	if err != nil {
		t.Fatal(err)
	}
	out := append(append([]byte(nil), data[:start]...), text...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), "PAR1"...)
}

// PathChunks calls edit with the metadata of each row group's path column.
func PathChunks(footer *format.FileMetaData, edit func(*format.ColumnMetaData)) {
	for g := range footer.RowGroups {
		for c := range footer.RowGroups[g].Columns {
			if m := &footer.RowGroups[g].Columns[c].MetaData; len(m.PathInSchema) == len(PathColumn) && m.PathInSchema[2] == PathColumn[2] {
				edit(m)
			}
		}
	}
}
