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
}

func (b *block) record(i int) []byte { return b.arena[b.records[i].start:b.records[i].end] }

func (b *block) size() int { return len(b.arena) + len(b.records)*spanSize }

func (b *block) reset() { b.arena, b.records = b.arena[:0], b.records[:0] }

func (b *block) sort() {
	slices.SortFunc(b.records, func(x, y span) int {
		if c := bytes.Compare(b.arena[x.path:x.pathEnd], b.arena[y.path:y.pathEnd]); c != 0 {
			return c
		}
		return bytes.Compare(b.arena[x.start:x.end], b.arena[y.start:y.end])
	})
}
