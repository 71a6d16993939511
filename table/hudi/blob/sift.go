package blob

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakesweep/lakesweep/lake/column"
)

// sieve takes out of a file the chunks that hold no candidate. One goroutine
// may use it, for one file.
type sieve struct {
	ballot   *ballot
	filters  bool     // Bloom filters may be asked, if the ballot is exact
	passed   []uint64 // authorities of the chunks that were taken out
	ruled    []bounds // and bounds
	filtered int      // and how many a Bloom filter took out
}

// sifted returns the chunks that are to be read, for each row group. Chunks
// whose bytes are at hand are read, not ruled out: that costs no request, and
// what they hold can be remembered for whatever candidates come.
func (f *parquetFile) sifted(s *sieve) ([][]*chunk, error) {
	groups := make([][]*chunk, len(f.file.RowGroups()))
	for g := range groups {
		for i := range f.structs {
			c, err := f.chunk(g, f.structs[i].path)
			if err != nil {
				return nil, err
			}
			c.dictionary = c.allDictionary()
			if !c.allNull() && (s == nil || !s.passes(c)) {
				groups[g] = append(groups[g], c)
			}
		}
	}
	if s == nil || s.ballot.exact == nil || !s.filters {
		return groups, nil
	}
	out, err := f.filtered(s.ballot.exact, slices.Concat(groups...))
	if err != nil {
		return nil, err
	}
	s.filtered = len(out)
	for g := range groups {
		groups[g] = slices.DeleteFunc(groups[g], func(c *chunk) bool { return out[c] })
	}
	return groups, nil
}

// passes takes a chunk out by its bounds.
func (s *sieve) passes(c *chunk) bool {
	least, greatest, ok := c.statistics()
	if !ok {
		return false
	}
	if authority, ok := s.ballot.passes(least, greatest); ok {
		s.passed = append(s.passed, s.ballot.print(authority))
		return true
	}
	if s.ballot.exact == nil || c.atHand() {
		return false
	}
	b, ok := c.bounds()
	if !ok || !s.ballot.exact.excludes(b) {
		return false
	}
	s.ruled = append(s.ruled, b)
	return true
}

// atHand reports whether all that is to be read of the chunk was fetched.
func (c *chunk) atHand() bool {
	off, end := c.extent()
	return c.src.at(off, end) != nil
}

// bounds returns what holds every value by the order of their bytes. The
// deprecated statistics, whose order depends on the writer, and those of a type
// or an order that isn't text's don't count.
//
// Source: Apache Parquet, parquet.thrift, Statistics and ColumnOrder.
func (c *chunk) bounds() (b bounds, ok bool) {
	least, greatest, ok := c.statistics()
	orders, at := c.chunk.File().Metadata().ColumnOrders, c.leaf.Index()
	if !ok || greatest == "" || least > greatest || at >= len(orders) {
		return b, false
	}
	if _, ok := orders[at].Value.(*format.TypeDefinedOrder); !ok {
		return b, false
	}
	t := c.leaf.Type()
	if logical := t.LogicalType(); logical != nil {
		if _, ok := logical.Value.(*format.StringType); !ok {
			return b, false
		}
	} else if old := t.ConvertedType(); old != nil && *old != deprecated.UTF8 {
		return b, false
	}
	return bounds{least, greatest}, true
}

// probe is a Bloom filter that may spare a chunk.
type probe struct {
	*chunk
	bounds
	off, end int64   // of the filter with its header, or more
	whole    bool    // end is said to be its end
	from, to int     // candidates that may lie in the chunk
	spares   float64 // bytes that it may be expected to
}

// requestCost is how many bytes a request is worth.
const requestCost = spanGap

// filtered returns the chunks of list of which a Bloom filter knows no
// candidate. Filters are fetched in one request at most, of those that lie
// together, and only if they are smaller than what they may be expected to spare.
func (f *parquetFile) filtered(exact *spellings, list []*chunk) (map[*chunk]bool, error) {
	var probes []probe
	for _, c := range list {
		if p, ok := f.probe(exact, c); ok {
			probes = append(probes, p)
		}
	}
	slices.SortFunc(probes, func(a, b probe) int { return cmp.Compare(a.off, b.off) })
	kept := len(f.src.spans)
	defer func() { f.src.drop(kept) }()
	if off, end := f.worthwhile(probes); off < end {
		if err := f.src.fetch(off, end); err != nil {
			return nil, err
		}
	}
	out := make(map[*chunk]bool)
	for _, p := range probes {
		if bits, ok := parseFilter(f.src.at(p.off, p.end), p.whole); ok && p.rulesOut(exact, bits) {
			out[p.chunk] = true
		}
	}
	return out, nil
}

// rulesOut reports whether the filter knows none of the candidates that may lie
// in the chunk. One that doesn't know the chunk's own bounds isn't believed:
// they are cut short, or the filter is damaged or hashes in another way.
func (p *probe) rulesOut(exact *spellings, bits filter) bool {
	for _, own := range [...]string{p.least, p.greatest} {
		if !bits.has(xxhash.Sum64([]byte(own))) {
			return false
		}
	}
	return !exact.any(p.from, p.to, bits)
}

// probe returns the Bloom filter of a chunk, if asking it may be worth while.
// It is never asked for as many candidates as the chunk has values.
func (f *parquetFile) probe(exact *spellings, c *chunk) (p probe, ok bool) {
	b, ok := c.bounds()
	if !ok || c.atHand() || c.meta.BloomFilterOffset <= 0 {
		return p, false
	}
	p = probe{chunk: c, bounds: b, off: c.meta.BloomFilterOffset, whole: c.meta.BloomFilterLength > 0}
	if p.from, p.to = exact.within(b); p.whole {
		p.end = p.off + int64(c.meta.BloomFilterLength)
	} else {
		p.end = f.after(p.off)
	}
	values := c.meta.NumValues - max(c.meta.Statistics.NullCount, 0)
	if p.end <= p.off || p.end > f.src.size || p.end-p.off > spanSize || values <= 0 || int64(p.to-p.from) >= values {
		return p, false
	}
	off, end := c.extent()
	p.spares = odds(p.end-p.off, values, p.to-p.from) * float64(end-off)
	return p, true
}

// worthwhile returns where the filters to fetch lie: of those that lie together,
// the ones that spare most. probes rise.
func (f *parquetFile) worthwhile(probes []probe) (off, end int64) {
	probes = slices.DeleteFunc(slices.Clone(probes), func(p probe) bool { return f.src.at(p.off, p.end) != nil })
	best := 0.0
	for len(probes) > 0 {
		from, to, spares := probes[0].off, probes[0].end, probes[0].spares
		for probes = probes[1:]; len(probes) > 0 && probes[0].off-to <= spanGap && max(to, probes[0].end)-from <= spanSize; probes = probes[1:] {
			to, spares = max(to, probes[0].end), spares+probes[0].spares
		}
		if spares -= float64(to - from + requestCost); spares > best {
			off, end, best = from, to, spares
		}
	}
	return off, end
}

// after returns where the next thing begins that the footer tells of: files of
// older writers don't say where a Bloom filter ends.
func (f *parquetFile) after(off int64) int64 {
	if f.starts == nil {
		for _, g := range f.file.Metadata().RowGroups {
			for i := range g.Columns {
				c := &g.Columns[i]
				f.starts = append(f.starts, c.MetaData.DataPageOffset, c.MetaData.DictionaryPageOffset, c.MetaData.BloomFilterOffset, c.ColumnIndexOffset, c.OffsetIndexOffset)
			}
		}
		if n, err := column.FooterSize(f.src.at(f.src.size-8, f.src.size), f.src.size); err == nil {
			f.starts = append(f.starts, f.src.size-n)
		}
		slices.Sort(f.starts)
	}
	if i, _ := slices.BinarySearch(f.starts, off+1); i < len(f.starts) {
		return f.starts[i]
	}
	return off
}
