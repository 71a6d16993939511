package filelist

import (
	"bytes"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
)

// block holds verdicts in their binary form.
type block struct {
	arena   []byte
	records []span
	sorted  bool
}

// span is where in an arena a record lies, and in it the path.
type span struct{ start, path, pathEnd, end uint32 }

const (
	spanSize = 4 * 4
	maxBlock = 1 << 30 // bytes, so that spans can count them
)

func (b *block) add(v lake.Verdict) {
	start := len(b.arena)
	b.arena = appendVerdict(b.arena, &v)
	path, pathEnd := recordPath(b.arena[start:])
	b.records = append(b.records, span{uint32(start), uint32(start + path), uint32(start + pathEnd), uint32(len(b.arena))})
	b.sorted = false
}

// grow makes room for one record, and more by doubling the block up to its
// budget: what append adds to a large one is soon used up, and copied each time.
func (b *block) grow(budget int) {
	const one = 1 << 10 // bytes that a record hardly ever exceeds
	if cap(b.arena)-len(b.arena) < one {
		b.arena = slices.Grow(b.arena, max(one, min(len(b.arena), budget-b.size())))
	}
}

func (b *block) record(i int) []byte { return b.arena[b.records[i].start:b.records[i].end] }

func (b *block) size() int { return len(b.arena) + len(b.records)*spanSize }

func (b *block) reset() { b.arena, b.records = b.arena[:0], b.records[:0] }

// sort puts the records in order. Of one that is in order nothing is written.
func (b *block) sort() {
	if b.sorted {
		return
	}
	slices.SortFunc(b.records, func(x, y span) int { return compareRecords(b, x, b, y) })
	b.sorted = true
}

// compareRecords orders records by their path, those of one path by their bytes.
func compareRecords(b *block, x span, c *block, y span) int {
	if d := bytes.Compare(b.arena[x.path:x.pathEnd], c.arena[y.path:y.pathEnd]); d != 0 {
		return d
	}
	return bytes.Compare(b.arena[x.start:x.end], c.arena[y.start:y.end])
}

// mergeBlocks hands the records of a few sorted blocks to put, in order, until
// it wants no more.
func mergeBlocks(blocks []*block, put func(record []byte) (bool, error)) error {
	next := make([]int, len(blocks))
	for {
		first := -1
		for i, b := range blocks {
			if next[i] < len(b.records) && (first < 0 || compareRecords(b, b.records[next[i]], blocks[first], blocks[first].records[next[first]]) < 0) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		if more, err := put(blocks[first].record(next[first])); err != nil || !more {
			return err
		}
		next[first]++
	}
}
