package column_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake/column"
)

// file puts a footer into a file.
func file(footer ...byte) []byte {
	b := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// The library would make room for all that a list claims.
func TestFootersThatClaimMoreThanTheyHold(t *testing.T) {
	for rule, data := range map[string][]byte{
		"a list of 2^28 columns":          file(0x15, 4, 0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0),
		"a list of 80, none there":        file(0x15, 4, 0x19, 0xfc, 0x50),
		"a list of 3, two there":          file(0x19, 0x3c, 0, 0),
		"a list of 2^28 booleans":         file(0x19, 0xf1, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0),
		"a string of 2^31 bytes":          file(0x18, 0xff, 0xff, 0xff, 0xff, 7, 0),
		"a map of 2^28 entries":           file(0x1b, 0xff, 0xff, 0xff, 0x7f, 0x88, 0),
		"no end":                          file(0x15, 4),
		"a number without an end":         file(0x15, 0xff),
		"structs within each other":       file(bytes.Repeat([]byte{0x1c}, 1000)...),
		"lists within each other":         file(append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1000)...)...),
		"a type that there isn't":         file(0x1e, 0, 0),
		"a footer longer than the file":   {'P', 'A', 'R', '1', 9, 0, 0, 1, 'P', 'A', 'R', '1'},
		"a file too short for any footer": []byte("PAR1"),
	} {
		if err := column.CheckFooter(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("%s is accepted", rule)
		}
	}
}

func TestFootersOfWholeFiles(t *testing.T) {
	type row struct {
		A string            `parquet:"a,dict,zstd"`
		B *float64          `parquet:"b,optional"`
		C []int32           `parquet:"c,list"`
		D map[string]string `parquet:"d"`
	}
	var rows []row
	for i := range 100 {
		rows = append(rows, row{A: "x", C: []int32{int32(i)}, D: map[string]string{"k": "v"}})
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows, parquet.MaxRowsPerRowGroup(7), parquet.KeyValueMetadata("k", "v"), parquet.BloomFilters(parquet.SplitBlockFilter(10, "a"))); err != nil {
		t.Fatal(err)
	}
	if err := column.CheckFooter(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
		t.Error(err)
	}
}
