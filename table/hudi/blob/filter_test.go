package blob

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
)

// Filters as DuckDB and parquet-mr write them (testdata/make.py) know the
// file's values, hardly any other, and take the column out.
func TestFiltersOfOtherWriters(t *testing.T) {
	names, err := lake.NewBlobNames(lake.BlobOptions{Table: lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"duckdb.parquet", "spark.parquet"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s := mem.New(mem.Options{})
		s.Put(name, data, time.Time{})
		f, err := openParquet(newSource(t.Context(), s, name, int64(len(data))), new(schemas))
		if err != nil {
			t.Fatal(err)
		}
		c, err := f.chunk(0, f.structs[0].path)
		if err != nil {
			t.Fatal(err)
		}
		end := f.after(c.meta.BloomFilterOffset)
		if n := int64(c.meta.BloomFilterLength); n != 0 && c.meta.BloomFilterOffset+n != end {
			t.Errorf("%s: the filter's end at %d, and by the next thing at %d", name, c.meta.BloomFilterOffset+n, end)
		}
		bits, ok := parseFilter(data[c.meta.BloomFilterOffset:end], true)
		if !ok {
			t.Fatalf("%s: no filter", name)
		}
		values := make(map[string]bool)
		if err := f.paths(nil, func(path string) error { values[path] = true; return nil }); err != nil || len(values) != 36 {
			t.Errorf("%s: %d values, %v", name, len(values), err)
		}
		known := 0
		for i := range 1000 {
			text := fmt.Sprintf("s3://media/%d", i)
			if has := bits.has(xxhash.Sum64([]byte(text))); values[text] && !has {
				t.Errorf("%s doesn't know %s", name, text)
			} else if !values[text] && has {
				known++
			}
		}
		if known > 50 {
			t.Errorf("%s knows %d others of 960", name, known)
		}
		// With the column's bytes not at hand, the filter's and the footer's alone.
		for _, c2 := range []struct {
			candidates []lake.BlobID
			left       int
		}{{[]lake.BlobID{"s3://media/1", "s3://media/33", "s3://media/7"}, 0}, {[]lake.BlobID{"s3://media/1", "s3://media/32"}, 1}} {
			f.src.spans = nil
			if err := f.src.fetch(c.meta.BloomFilterOffset, int64(len(data))); err != nil {
				t.Fatal(err)
			}
			b := newBallot(names, 1, true)
			for _, id := range c2.candidates {
				b.add(id)
			}
			groups, err := f.sifted(&sieve{ballot: b, filters: true})
			if err != nil || len(groups) != 1 || len(groups[0]) != c2.left {
				t.Errorf("%s: %v of %q, %v", name, groups, c2.candidates, err)
			}
		}
	}
}

// Bits that no value leaves behind are no filter.
func TestUnsoundFilters(t *testing.T) {
	header := slices.Concat([]byte{0x15, 0x80, 0x01}, filterTail) // two blocks
	value := bytes.Repeat([]byte{0, 0, 1, 0}, 8)
	for name, c := range map[string]struct {
		bits []byte
		ok   bool
	}{
		"a value in the first block": {slices.Concat(value, make([]byte, 32)), true},
		"none":                       {make([]byte, 64), false},
		"a block cut short":          {slices.Concat(value, value[:28], make([]byte, 4)), false},
		"too few bytes":              {value, false},
	} {
		if _, ok := parseFilter(slices.Concat(header, c.bits), false); ok != c.ok {
			t.Errorf("%s: %t", name, ok)
		}
	}
}

// What lies in bounds is found, whatever is forgotten of the candidates' text.
func TestCandidatesWithinBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
		list := rapid.SliceOfNDistinct(text, 0, 60, func(s string) string { return s }).Draw(rt, "candidates")
		slices.Sort(list)
		s := newSpellings()
		s.most = rapid.SampledFrom([]int{100, 400, mostPosts}).Draw(rt, "memory")
		for _, id := range list {
			for range rapid.IntRange(1, 2).Draw(rt, "times") {
				s.add(lake.BlobID(id))
			}
		}
		if s.n != len(list) || s.size > s.most+postSize+6 {
			rt.Fatalf("%d candidates of %d, %d bytes", s.n, len(list), s.size)
		}
		b := bounds{text.Draw(rt, "least"), text.Draw(rt, "greatest")}
		from, to := s.within(b)
		inside := 0
		for i, id := range list {
			in := id >= b.least && (id <= b.greatest || strings.HasPrefix(id, b.greatest))
			if in {
				inside++
			}
			if in && (i < from || i >= to) {
				rt.Fatalf("%q of %q isn't within %+v: %d to %d", id, list, b, from, to)
			}
		}
		if s.stride == 1 && max(to-from, 0) != inside || to-from > inside+2*s.stride {
			rt.Fatalf("%d to %d within %+v of %q, %d inside", from, to, b, list, inside)
		}
	})
	s := newSpellings()
	s.add("b")
	s.add("a")
	if s.excludes(bounds{"c", "d"}) || s.excludes(bounds{"A", "B"}) {
		t.Error("candidates out of order are ruled out")
	}
}

// What is taken for a filter is one by the library's reading of the header too.
func FuzzFilter(f *testing.F) {
	header := slices.Concat([]byte{0x15, 0x40}, filterTail)
	f.Add(append(header, bytes.Repeat([]byte{1}, 32)...), true)
	f.Add(append(header, make([]byte, 40)...), false)
	f.Add([]byte{0x15, 0xff, 0xff, 0xff, 0xff, 0x0f}, false)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		bits, ok := parseFilter(data, whole)
		if !ok {
			return
		}
		var h format.BloomFilterHeader
		if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(bytes.NewReader(data))).Decode(&h); err != nil {
			t.Fatal(err)
		}
		_, block := h.Algorithm.Value.(*format.SplitBlockAlgorithm)
		_, hash := h.Hash.Value.(*format.XxHash)
		_, plain := h.Compression.Value.(*format.BloomFilterUncompressed)
		if !block || !hash || !plain || int(h.NumBytes) != len(bits) || len(bits) == 0 || len(bits)%blockSize != 0 {
			t.Fatalf("%+v, %d bytes", h, len(bits))
		}
		for _, x := range []uint64{0, 1 << 63, 1<<64 - 1} {
			bits.has(x)
		}
	})
}
