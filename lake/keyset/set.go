package keyset

import (
	"math/bits"
	"sync/atomic"

	"github.com/lakesweep/lakesweep/lake"
)

// Set is a finished set. Safe for concurrent use.
type Set struct {
	seed   uint64
	n      int64
	disk   *disk // nil for a set in memory
	shards [shardCount]struct {
		slots []uint64
		marks []uint32
	}
}

// Len returns the number of keys.
func (s *Set) Len() int64 { return s.n }

// Has reports whether k was added. It may be true for a few keys that weren't.
func (s *Set) Has(k lake.Key) bool {
	fp := fingerprint(k, s.seed)
	_, _, ok := s.index(fp, true)
	return ok
}

// MarkFirst is Has, remembers that k was seen in storage, and reports whether no
// call before marked k.
func (s *Set) MarkFirst(k lake.Key) (has, first bool) {
	fp := fingerprint(k, s.seed)
	i, known, ok := s.index(fp, true)
	if !known || !ok {
		return ok, ok
	}
	return true, s.mark(fp, i)
}

// Found is what MarkAll says of a key, as MarkFirst does.
type Found struct{ Has, First bool }

const markAtOnce = 256

// MarkAll is MarkFirst of each of keys, into found. It takes half the time: a
// big set lies out of the processor's reach, and here the first looks at it
// don't wait for each other.
func (s *Set) MarkAll(keys []lake.Key, found []Found) {
	var prints [markAtOnce]uint64
	var homes [markAtOnce]int // where a key is, -1 if that takes a search
	for n := 0; len(keys) > 0; keys, found = keys[n:], found[n:] {
		n = min(len(keys), markAtOnce)
		for i, k := range keys[:n] {
			prints[i] = fingerprint(k, s.seed)
		}
		for i, fp := range prints[:n] {
			homes[i] = -1
			if slots := s.shards[fp>>56].slots; len(slots) > 0 {
				if at := home(fp, len(slots)); slots[at] == fp {
					homes[i] = at
				}
			}
		}
		for i, fp := range prints[:n] {
			at, known, ok := homes[i], true, true
			if at < 0 {
				at, known, ok = s.index(fp, true)
			}
			if found[i] = (Found{ok, ok}); known && ok {
				found[i].First = s.mark(fp, at)
			}
		}
	}
}

// mark marks the key at slot i of its shard as seen, and reports whether it wasn't.
func (s *Set) mark(fp uint64, i int) bool {
	sh := &s.shards[fp>>56]
	bit := uint32(seen) << (i % 16 * 2)
	return atomic.LoadUint32(&sh.marks[i/16])&bit == 0 && atomic.OrUint32(&sh.marks[i/16], bit)&bit == 0
}

// index returns the slot of fp. Where it can't be looked up, known is false and ok is orElse.
func (s *Set) index(fp uint64, orElse bool) (i int, known, ok bool) {
	if s.disk != nil {
		return s.disk.look(fp, orElse)
	}
	slots := s.shards[fp>>56].slots
	if len(slots) == 0 {
		return 0, true, false
	}
	i, ok = find(slots, fp)
	return i, true, ok
}

// Seen reports whether MarkFirst or MarkAll saw k.
func (s *Set) Seen(k lake.Key) bool {
	fp := fingerprint(k, s.seed)
	sh := &s.shards[fp>>56]
	i, _, ok := s.index(fp, false)
	return ok && atomic.LoadUint32(&sh.marks[i/16])>>(i%16*2)&seen != 0
}

// Expected counts the keys added by AddExpected, and those of them that were marked.
func (s *Set) Expected() (all, marked int64) {
	for i := range s.shards {
		for j := range s.shards[i].marks {
			m := atomic.LoadUint32(&s.shards[i].marks[j])
			low := m & 0x55555555
			all += int64(bits.OnesCount32(low))
			marked += int64(bits.OnesCount32(low & (m >> 1)))
		}
	}
	return all, marked
}

// Expects reports whether AddExpected added k.
func (s *Set) Expects(k lake.Key) bool {
	fp := fingerprint(k, s.seed)
	sh := &s.shards[fp>>56]
	i, _, ok := s.index(fp, false)
	return ok && atomic.LoadUint32(&sh.marks[i/16])>>(i%16*2)&expected != 0
}
