package logblock

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
)

func read(data []byte) (out []Block, err error) {
	for b, err := range Blocks(bytes.NewReader(data), int64(len(data))) {
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

func headersOf(instant string) map[Header]string { return map[Header]string{InstantTime: instant} }

func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var data []byte
		type want struct {
			typ     Type
			headers map[Header]string
			content []byte
		}
		var wants []want
		for range rapid.IntRange(0, 5).Draw(rt, "blocks") {
			w := want{
				rapid.SampledFrom([]Type{Command, Delete, AvroData, HFileData, ParquetData, CDCData}).Draw(rt, "type"),
				rapid.MapOf(rapid.Map(rapid.Int32Range(0, 9), func(i int32) Header { return Header(i) }), rapid.String()).Draw(rt, "headers"),
				rapid.SliceOf(rapid.Byte()).Draw(rt, "content"),
			}
			wants, data = append(wants, w), Append(data, w.typ, w.headers, w.content)
		}
		blocks, err := read(data)
		if err != nil || len(blocks) != len(wants) {
			rt.Fatalf("%d blocks of %d: %v", len(blocks), len(wants), err)
		}
		for i, b := range blocks {
			content, err := b.Content()
			if err != nil || b.Type != wants[i].typ || !bytes.Equal(content, wants[i].content) || !cmp.Equal(b.Header, wants[i].headers) {
				rt.Fatalf("block %d: %+v, %v", i, b, err)
			}
		}
	})
}

// A crash can cut an append anywhere; later appends follow the torn block.
func TestTornBlockHidesNoOther(t *testing.T) {
	first, torn, last := Append(nil, AvroData, headersOf("1"), []byte("one")), Append(nil, AvroData, headersOf("2"), []byte("two")), Append(nil, AvroData, headersOf("3"), []byte("three"))
	for n := range len(torn) {
		for _, tail := range [][]byte{nil, last} {
			blocks, err := read(slices.Concat(first, torn[:n], tail))
			if err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
			var got []string
			for _, b := range blocks {
				if b.Type != Corrupt {
					got = append(got, b.Instant())
				} else if b.Length != int64(n) {
					t.Errorf("cut at %d: a corrupt block of %d bytes", n, b.Length)
				}
			}
			want := "1"
			if tail != nil {
				want = "1,3"
			}
			if strings.Join(got, ",") != want {
				t.Errorf("cut at %d: blocks %v, want %s", n, got, want)
			}
		}
	}
}

func TestUnknownIsRefused(t *testing.T) {
	good := Append(nil, AvroData, headersOf("1"), []byte("x"))
	for _, change := range []struct {
		at   int
		to   byte
		kind lake.Kind
	}{{17, 2, lake.Unsupported}, {21, 7, lake.Unsupported}, {21, 2, lake.Unsupported}, {25, 2, lake.Damaged}, {25, 0, lake.Damaged}} {
		data := slices.Clone(good)
		data[change.at] = change.to
		if _, err := read(data); lake.KindOf(err) != change.kind || err == nil {
			t.Errorf("byte %d = %d: %v", change.at, change.to, err)
		}
	}
}

func TestDeletedKeys(t *testing.T) {
	d, err := NewDeletions()
	if err != nil {
		t.Fatal(err)
	}
	want := []DeletedKey{{"a", "p"}, {"b", ""}}
	content, err := d.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Keys(content); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	// What Hudi writes when it makes a metadata table's file group.
	if got, err := d.Keys([]byte{0, 0, 0, 3, 0, 0, 0, 1, 0}); err != nil || len(got) != 0 {
		t.Errorf("empty: %v, %v", got, err)
	}
	if _, err := d.Keys([]byte{0, 0, 0, 2, 0, 0, 0, 1, 0}); lake.KindOf(err) != lake.Unsupported {
		t.Errorf("Java objects: %v", err)
	}
	if _, err := d.Keys(content[:len(content)-1]); lake.KindOf(err) != lake.Damaged {
		t.Errorf("cut: %v", err)
	}
}

func TestVisible(t *testing.T) {
	data := func(instant string) Block { return Block{Type: AvroData, Header: headersOf(instant)} }
	back := func(instant, target string) Block {
		return Block{Type: Command, Header: map[Header]string{InstantTime: instant, TargetInstantTime: target, CommandType: "0"}}
	}
	compacted := func(instant, of string) Block {
		return Block{Type: AvroData, Header: map[Header]string{InstantTime: instant, CompactedBlockTimes: of}}
	}
	for name, c := range map[string]struct {
		in   []Block
		want string
	}{
		"in order":                           {[]Block{data("1"), data("2"), data("3")}, "1 2 3"},
		"uncommitted":                        {[]Block{data("1"), data("9"), data("3")}, "1 3"},
		"corrupt":                            {[]Block{data("1"), {Type: Corrupt}, data("3")}, "1 3"},
		"rolled back, not adjacent":          {[]Block{data("1"), data("2"), data("1"), back("3", "1"), data("4")}, "2 4"},
		"written again after a rollback":     {[]Block{data("1"), back("2", "1"), data("3"), data("1")}, "1 3"},
		"log-compacted":                      {[]Block{data("1"), data("2"), data("3"), compacted("4", "2,1"), data("5")}, "4 3 5"},
		"nested log compactions":             {[]Block{data("1"), data("2"), compacted("3", "1,2"), data("4"), compacted("5", "3,4")}, "5"},
		"an uncommitted log compaction":      {[]Block{data("1"), compacted("9", "1")}, "1"},
		"a log compaction that names itself": {[]Block{data("1"), compacted("2", "1,2")}, "2"},
	} {
		var got []string
		for _, b := range Visible(c.in, func(s string) bool { return s != "9" }) {
			got = append(got, b.Instant())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	d, err := NewDeletions()
	if err != nil {
		f.Fatal(err)
	}
	deletes, err := d.Encode([]DeletedKey{{"k", "p"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(Append(nil, Delete, headersOf("1"), deletes))
	f.Add(Append(Append(nil, AvroData, headersOf("1"), []byte{0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 7}), Command, headersOf("2"), nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := int64(0)
		for b, err := range Blocks(bytes.NewReader(data), int64(len(data))) {
			if err != nil {
				return
			}
			if b.Offset != end || b.Length <= 0 {
				t.Fatalf("a block at %d, the last ended at %d", b.Offset, end)
			}
			end += b.Length
			content, err := b.Content()
			if err != nil {
				t.Fatal(err)
			}
			switch b.Type {
			case Delete:
				_, _ = d.Keys(content) // must not panic
			case AvroData, CDCData:
				for _, err := range Records(content) {
					_ = err
				}
			}
		}
		if end != int64(len(data)) {
			t.Fatalf("%d of %d bytes", end, len(data))
		}
	})
}
