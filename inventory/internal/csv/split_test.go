package csv

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func splitAll(in io.Reader, comma byte) (out [][]string, err error) {
	s := NewSplitter(in, comma)
	for {
		fields, err := s.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		var record []string
		for _, f := range fields {
			record = append(record, string(f))
		}
		out = append(out, record)
	}
}

var csvSeeds = []string{
	"a,b\nc,d\n", "a,b\r\nc,d\r\n", "a", "", "\n\n", "a\n\nb", `"a","b"` + "\n", `"a""b",c`, `"",""`, "\"a\nb\",c\n", `""`, "a,\n", ",", ",\n,", "\r", "a\r", `"a"` + "\r", "\"a\"\r\n",
	`a"b`, `"a"b`, `"a`, "a\rb", "\"\r\n\"", " \"a\"", "\xff\xfe,\x00\n", `"a"",b`, "a,\"\"\"\"\n",
}

func TestSplitter(t *testing.T) {
	for _, c := range []struct {
		in   string
		want [][]string
	}{
		{"a,b\nc,d\n", [][]string{{"a", "b"}, {"c", "d"}}},
		{"\"a,1\",\"b\"\"q\"\r\n\n\"x\ny\",\n", [][]string{{"a,1", `b"q`}, {"x\ny", ""}}},
		{`"b","k%3D+1"`, [][]string{{"b", "k%3D+1"}}},
	} {
		got, err := splitAll(strings.NewReader(c.in), ',')
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
	}
	if got, err := splitAll(strings.NewReader("a|b,c\n"), '|'); err != nil || !cmp.Equal(got, [][]string{{"a", "b,c"}}) {
		t.Error(got, err)
	}
}

func TestSplitterRefusesALongRecord(t *testing.T) {
	if _, err := splitAll(io.LimitReader(zeros{}, 3*MaxRecord), ','); err == nil {
		t.Fatal("accepted")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestSplitterPassesReadErrorsOn(t *testing.T) {
	for n := range 9 {
		in := io.MultiReader(strings.NewReader("a,b\nc,d\n"[:n]), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, err := splitAll(in, ','); err == nil {
			t.Errorf("cut after %d bytes: no error", n)
		}
	}
}

func FuzzSplitter(f *testing.F) {
	for _, s := range csvSeeds {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, small uint8) {
		var in io.Reader = bytes.NewReader(data)
		if small%2 == 1 {
			in = iotest.OneByteReader(in)
		}
		got, err := splitAll(in, ',')
		r := csv.NewReader(bytes.NewReader(data))
		r.FieldsPerRecord = -1
		want, wantErr := r.ReadAll()
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, encoding/csv says %v", data, err, wantErr)
		}
		// encoding/csv makes "\r\n" within quotes a "\n".
		for _, record := range got {
			for i := range record {
				record[i] = strings.ReplaceAll(record[i], "\r\n", "\n")
			}
		}
		if err == nil && !cmp.Equal(got, want) && len(got)+len(want) > 0 {
			t.Fatalf("%q: %q, encoding/csv says %q", data, got, want)
		}
	})
}
