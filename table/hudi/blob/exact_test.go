package blob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// long is the i-th of many paths, in the order of their numbers: 8,000 of them
// are more than a request is worth.
func long(i int) lake.BlobID {
	return lake.BlobID(fmt.Sprintf("s3://media/%06d/%040x", i, uint64(i+1)*0x9E3779B97F4A7C15))
}

// longs are references to every step-th path from one to another.
func longs(from, to, step int) (out []Ref) {
	for i := from; i < to; i += step {
		out = append(out, M(string(long(i))))
	}
	return out
}

// exactly is a world whose user vouches for spellings.
func exactly(t testing.TB) *world {
	w := newWorld(t)
	w.o.Exact = true
	return w
}

const perGroup = 8000

// filtered is a file of two row groups, each of more than the paths in its
// bounds, with Bloom filters where bits isn't 0.
func filtered(t testing.TB, bits uint) []byte {
	return Laid(t, Layout{Rows: perGroup, Bits: bits, Pad: 80}, longs(0, 4*perGroup, 2)...)
}

// A row group whose bounds or whose Bloom filter leave out every candidate isn't
// read, and without the declaration it is.
func TestExactSpellingSparesReading(t *testing.T) {
	for name, c := range map[string]struct {
		bits       uint
		candidates []lake.BlobID
		bytes      int64 // of 1.9 MiB at most
		fates      string
	}{
		"outside the bounds":               {0, []lake.BlobID{"s3://media/9", "s3://media/a"}, 130 << 10, "uu"},
		"between the bounds, no filter":    {0, []lake.BlobID{long(1), long(3)}, 650 << 10, "uu"},
		"not in the filter":                {20, []lake.BlobID{long(1), long(3)}, 200 << 10, "uu"},
		"in the filter":                    {20, []lake.BlobID{long(1), long(4)}, 700 << 10, "ur"},
		"in both filters":                  {20, []lake.BlobID{long(4), long(5), long(2*perGroup + 4)}, 1200 << 10, "rur"},
		"one out of bounds, one in filter": {20, []lake.BlobID{long(6), "s3://media/a"}, 700 << 10, "ru"},
	} {
		t.Run(name, func(t *testing.T) {
			w := exactly(t)
			w.add(filtered(t, c.bits), "")
			r := w.judge(c.candidates...)
			for i, id := range c.candidates {
				want := map[byte]blob.Fate{'u': blob.Unreferenced, 'r': blob.Referenced}[c.fates[i]]
				if got := r.Of(id).Fate; got != want {
					t.Errorf("%s: %v, want %v", id, got, want)
				}
			}
			u := w.meter.Usage().Open
			if u.Bytes > c.bytes || u.Requests > 4 {
				t.Errorf("%d bytes in %d requests, %+v", u.Bytes, u.Requests, r)
			}
			if ruled := !strings.Contains(c.fates, "r") && c.bytes <= 200<<10; (r.Ruled == 1) != ruled {
				t.Errorf("%+v", r)
			}
			w.o.Exact = false
			before := w.meter.Usage().Open.Bytes
			if r := w.judge(c.candidates...); r.Ruled > 0 || w.meter.Usage().Open.Bytes-before < 900<<10 {
				t.Errorf("without the declaration: %+v", r)
			}
		})
	}
}

// What bounds ruled out is remembered for runs that are told the same, and what
// a filter did isn't remembered at all: a run without the declaration reads
// both, and finds what is spelled otherwise.
func TestWhatExactRuledOutIsReadWithout(t *testing.T) {
	for name, bits := range map[string]uint{"bounds": 0, "filter": 20} {
		candidate := lake.BlobID("s3://media/x")
		if bits > 0 {
			candidate = "s3://media/00/../x" // lies in the bounds
		}
		before := func(t *testing.T) *world {
			w := exactly(t)
			w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
			w.add(Laid(t, Layout{Bits: bits, Pad: 80}, append([]Ref{M("s3://media//x")}, longs(0, 2*perGroup, 2)...)...), "")
			for round := range 2 {
				opens := w.opens()
				r := w.judge(candidate)
				if r.Of(candidate).Fate != blob.Unreferenced || r.Read > 0 {
					t.Fatalf("%+v", r)
				}
				if remembered := round > 0 && bits == 0; (r.Remembered > 0) != remembered || (w.opens() == opens) != remembered {
					t.Errorf("round %d: %d requests, %+v", round, w.opens()-opens, r)
				}
			}
			return w
		}
		t.Run(name+", then another candidate", func(t *testing.T) {
			if r := before(t).judge(long(8), candidate); r.Of(long(8)).Fate != blob.Referenced || r.Misspelled == nil {
				t.Errorf("%+v", r)
			}
		})
		t.Run(name+", then without the declaration", func(t *testing.T) {
			w := before(t)
			w.o.Exact = false
			if r := w.judge(candidate); r.Of(candidate).Fate != blob.Referenced {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A search in parts comes to its end, as it would without the declaration.
func TestLimitsUnderExact(t *testing.T) {
	w := exactly(t)
	w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
	for range 3 {
		w.add(filtered(t, 20), "")
	}
	w.o.MaxFiles = 1
	for round := range 3 {
		r := w.judge(long(1), "s3://media/a")
		want := blob.Undecided
		if round == 2 {
			want = blob.Unreferenced
		}
		if got := r.Of(long(1)).Fate; got != want {
			t.Errorf("round %d: %v, %+v", round, got, r)
		}
	}
}

// One reference that spells a candidate otherwise disproves the declaration,
// wherever it is seen: nothing is Unreferenced in that round.
func TestMisspelledReferencesDisproveExact(t *testing.T) {
	const other, path, nobody = "s3a://media/a", lake.BlobID("s3://media/a"), lake.BlobID("s3://media/nobody")
	for name, c := range map[string]struct {
		file   func() ([]byte, string)
		keeper blob.Fate
	}{
		"in a base file":               {func() ([]byte, string) { return Base(t, true, M("s3://media/b"), M(other)), "" }, blob.Referenced},
		"beside the right spelling":    {func() ([]byte, string) { return Base(t, true, M(string(path)), M(other)), "" }, blob.Referenced},
		"in a dictionary":              {func() ([]byte, string) { return Plain(t, M(other)), "" }, blob.Referenced},
		"in a log":                     {func() ([]byte, string) { return Log(t, nil, "1", M(other)), ".log.1_0-1-2" }, blob.Referenced},
		"in a block of a write":        {func() ([]byte, string) { return Log(t, nil, "9", M(other)), ".log.1_0-1-2" }, blob.Pending},
		"unmanaged, in another column": {func() ([]byte, string) { return Base(t, false, Ref{Key: "k", Path: other, Column: "other"}), "" }, blob.Referenced},
		"in what a large file is read of": {func() ([]byte, string) {
			return Laid(t, Layout{Pad: 80}, append(longs(0, 20_000, 1), M(string(path)), M("s3://media/%61"))...), ""
		}, blob.Referenced},
	} {
		t.Run(name, func(t *testing.T) {
			w := exactly(t)
			w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
			f := w.add(c.file())
			for range 2 { // from the ledger too
				r := w.judge(path, nobody)
				if r.Of(path).Fate != c.keeper || r.Of(nobody).Fate != blob.Undecided || r.Decided() || r.Misspelled == nil {
					t.Fatalf("%v %v, %+v", r.Of(path), r.Of(nobody), r)
				}
				if text := r.Misspelled.Error(); !strings.Contains(text, string(f.Key)) || !strings.Contains(text, string(path)) || !strings.Contains(lake.HintOf(r.Misspelled), "--blob-spelling any") {
					t.Errorf("%s (%s)", text, lake.HintOf(r.Misspelled))
				}
			}
			w.o.Exact = false
			if r := w.judge(path, nobody); r.Of(nobody).Fate != blob.Unreferenced || r.Misspelled != nil {
				t.Errorf("without the declaration: %+v", r)
			}
		})
	}
	w := exactly(t)
	w.add(Base(t, true, M("s3://media/b")), "")
	if r := w.judge(path, nobody, other); r.Of(nobody).Fate != blob.Undecided || r.Of(path).Fate != blob.Undecided || r.Misspelled == nil {
		t.Errorf("two candidates that are one: %+v", r)
	}
	r := w.judge(path, nobody)
	if err := r.Compare("p=1/dead.parquet", "s3://media//b"); err != nil || !r.Decided() {
		t.Errorf("%v, %+v", err, r)
	}
	if err := r.Compare("p=1/dead.parquet", "s3://media//a"); err != nil || r.Decided() || r.Of(nobody).Fate != blob.Undecided {
		t.Errorf("%v, %+v", err, r)
	}
}

// Statistics and Bloom filters that say less than they should rule nothing out.
func TestDoubtfulStatisticsAndFilters(t *testing.T) {
	const bits = 20
	good := filtered(t, bits)
	alive, dead := long(4), long(5)
	edit := func(f func(*format.ColumnMetaData)) func() []byte {
		return func() []byte {
			return EditFooter(t, good, func(m *format.FileMetaData) { PathChunks(m, f) })
		}
	}
	bytesAt := func(f func(b []byte)) func() []byte {
		return func() []byte {
			data := slices.Clone(good)
			EditFooter(t, good, func(m *format.FileMetaData) {
				PathChunks(m, func(c *format.ColumnMetaData) {
					f(data[c.BloomFilterOffset : c.BloomFilterOffset+int64(c.BloomFilterLength)])
				})
			})
			return data
		}
	}
	for name, make := range map[string]func() []byte{
		"deprecated bounds in another order": edit(func(c *format.ColumnMetaData) {
			c.Statistics.Min, c.Statistics.Max, c.Statistics.MinValue, c.Statistics.MaxValue = []byte("s3://z"), []byte("s3://zz"), nil, nil
		}),
		"no statistics": edit(func(c *format.ColumnMetaData) { c.Statistics = format.Statistics{} }),
		"greatest less than least": edit(func(c *format.ColumnMetaData) {
			c.Statistics.MinValue, c.Statistics.MaxValue = []byte("s3://media/9"), []byte("s3://media/8")
		}),
		"an empty greatest":          edit(func(c *format.ColumnMetaData) { c.Statistics.MinValue, c.Statistics.MaxValue = []byte{}, []byte{} }),
		"no order of the columns":    func() []byte { return EditFooter(t, good, func(m *format.FileMetaData) { m.ColumnOrders = nil }) },
		"a filter of no length":      edit(func(c *format.ColumnMetaData) { c.BloomFilterLength = 0 }), // no doubt: the next thing tells
		"a filter beyond the file":   edit(func(c *format.ColumnMetaData) { c.BloomFilterOffset = int64(len(good)) - 100 }),
		"a filter that isn't one":    edit(func(c *format.ColumnMetaData) { c.BloomFilterOffset = c.DataPageOffset }),
		"a filter of another length": edit(func(c *format.ColumnMetaData) { c.BloomFilterLength -= 32 }),
		"bits all 0":                 bytesAt(func(b []byte) { clear(b[20:]) }),
		"the filter's end is lost":   bytesAt(func(b []byte) { clear(b[len(b)/2+5:]) }),
		"the filter lies elsewhere":  bytesAt(func(b []byte) { copy(b[20:], slices.Clone(b[52:])) }),
		"another algorithm":          bytesAt(func(b []byte) { b[5] = 0x2c }),
		"another hash":               bytesAt(func(b []byte) { b[9] = 0x2c }),
		"a compressed filter":        bytesAt(func(b []byte) { b[13] = 0x2c }),
		"half the blocks":            bytesAt(func(b []byte) { b[1]++ }),
	} {
		t.Run(name, func(t *testing.T) {
			w := exactly(t)
			w.add(make(), "")
			r := w.judge(alive, dead)
			if r.Of(alive).Fate != blob.Referenced || r.Of(dead).Fate != blob.Unreferenced {
				t.Errorf("%v %v, %+v", r.Of(alive), r.Of(dead), r)
			}
			w = exactly(t)
			w.add(make(), "")
			if r := w.judge(dead, long(7)); (r.Ruled > 0) != (name == "a filter of no length") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A column that is encrypted, or lies in another file, can't be read: what the
// footer says of it counts for nothing.
func TestColumnsThatArentThere(t *testing.T) {
	good := Laid(t, Layout{Bits: 10, Pad: 80}, longs(0, 100, 1)...)
	for name, edit := range map[string]func(*format.ColumnChunk){
		"encrypted": func(c *format.ColumnChunk) { c.CryptoMetadata.Value = new(format.EncryptionWithFooterKey) },
		"encrypted, and nothing said of it": func(c *format.ColumnChunk) {
			c.CryptoMetadata.Value = &format.EncryptionWithColumnKey{PathInSchema: c.MetaData.PathInSchema}
			c.MetaData.NumValues, c.MetaData.Statistics, c.EncryptedColumnMetadata = 0, format.Statistics{}, []byte("secret")
		},
		"in another file": func(c *format.ColumnChunk) { c.FilePath = "other.parquet" },
	} {
		for _, exact := range []bool{false, true} {
			w := newWorld(t)
			w.o.Exact = exact
			w.add(EditFooter(t, good, func(m *format.FileMetaData) {
				for i := range m.RowGroups[0].Columns {
					if c := &m.RowGroups[0].Columns[i]; slices.Equal(c.MetaData.PathInSchema, PathColumn) {
						edit(c)
					}
				}
			}), "")
			if r := w.judge("s3://media/a", long(3)); r.UnreadFiles != 1 || r.Of("s3://media/a").Fate != blob.Undecided {
				t.Errorf("%s, exact %t: %+v", name, exact, r)
			}
		}
	}
}

// The verdict is the same as that of reading everything, whatever the layout,
// and a file takes no more requests than it may.
func TestExactAgainstOracle(t *testing.T) {
	const universe = 40_000
	saved := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		w := exactly(t)
		alive := make(map[lake.BlobID]bool)
		var some []lake.BlobID
		for range rapid.IntRange(1, 2).Draw(rt, "files") {
			from := rapid.IntRange(0, universe-1).Draw(rt, "from")
			step := rapid.IntRange(1, 3).Draw(rt, "step")
			refs := longs(from, min(universe, from+step*rapid.IntRange(1, 15_000).Draw(rt, "refs")), step)
			if rapid.Bool().Draw(rt, "shuffled") {
				for i := range refs {
					j := int(uint64(i) * 7919 % uint64(len(refs)))
					refs[i], refs[j] = refs[j], refs[i]
				}
			}
			for i, ref := range refs {
				alive[lake.BlobID(ref.Path)] = true
				if i%997 == 0 {
					some = append(some, lake.BlobID(ref.Path))
				}
			}
			data := Laid(t, Layout{
				Rows:       rapid.SampledFrom([]int{0, 1000, 8000}).Draw(rt, "rows"),
				Dictionary: rapid.Bool().Draw(rt, "dictionary"),
				Bits:       rapid.SampledFrom([]uint{0, 4, 10, 30}).Draw(rt, "bits"),
				Pad:        rapid.SampledFrom([]int{80, 0}).Draw(rt, "pad"),
			}, refs...)
			data = EditFooter(t, data, func(m *format.FileMetaData) {
				PathChunks(m, func(c *format.ColumnMetaData) {
					s := &c.Statistics
					switch rapid.IntRange(0, 5).Draw(rt, "statistics") {
					case 0: // cut short, as a bound
						n := rapid.IntRange(1, len(s.MaxValue)).Draw(rt, "length")
						s.MinValue, s.MaxValue = s.MinValue[:n], slices.Concat(s.MaxValue[:n-1], []byte{s.MaxValue[n-1] + 1})
					case 1: // cut short, and the greatest no bound
						n := rapid.IntRange(1, len(s.MaxValue)).Draw(rt, "length")
						s.MinValue, s.MaxValue = s.MinValue[:n], s.MaxValue[:n]
					case 2:
						*s = format.Statistics{Min: s.MaxValue, Max: s.MinValue}
					}
					if rapid.Bool().Draw(rt, "old") {
						c.BloomFilterLength = 0
					}
				})
			})
			w.add(data, "")
		}
		candidates := slices.Clone(some[:rapid.IntRange(0, len(some)).Draw(rt, "known")])
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, universe), 1, 40).Draw(rt, "candidates") {
			candidates = append(candidates, long(i))
		}
		slices.Sort(candidates)
		r := w.judge(candidates...)
		for _, id := range candidates {
			if got := r.Of(id).Fate; got == blob.Referenced != alive[id] || got != blob.Referenced && got != blob.Unreferenced {
				rt.Fatalf("%s: %v, referred to: %t; %+v", id, got, alive[id], r)
			}
		}
		exact := w.meter.Usage().Open
		plain := newWorld(t)
		plain.store, plain.files, plain.o.Reader = w.store, w.files, plain.meter.Wrap(w.store)
		plain.judge(candidates...)
		every := plain.meter.Usage().Open
		if exact.Requests > every.Requests+int64(len(w.files)) || exact.Bytes > every.Bytes+every.Bytes/4 {
			rt.Fatalf("%+v, reading everything %+v", exact, every)
		}
		saved += every.Bytes - exact.Bytes
	})
	t.Logf("%d bytes saved", saved) // of a few random files it may be less than none
}

// With all that a file may take: its end, a larger footer, filters, a column.
func TestRequestsUnderExact(t *testing.T) {
	w := exactly(t)
	data := EditFooter(t, Laid(t, Layout{Bits: 20, Pad: 80}, longs(0, 40_000, 2)...), func(m *format.FileMetaData) {
		m.KeyValueMetadata = append(m.KeyValueMetadata, format.KeyValue{Key: "x", Value: strings.Repeat("x", 200<<10)})
	})
	w.add(data, "")
	for name, c := range map[string]struct {
		candidate lake.BlobID
		requests  int64
	}{"ruled out by bounds": {"s3://media/a", 2}, "by the filter": {long(1), 3}, "read": {long(2), 4}} {
		before := w.opens()
		r := w.judge(c.candidate)
		if got := w.opens() - before; got != c.requests || (r.Of(c.candidate).Fate == blob.Referenced) != (c.requests == 4) {
			t.Errorf("%s: %d requests, %+v", name, got, r)
		}
	}
}
