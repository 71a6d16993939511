// Package keyset is a set of lake.Keys by keyed 64-bit fingerprints, for the
// protected set: a collision makes a dead object look protected, so it errs
// only towards keeping. It must never decide that something is absent from a
// log, where a collision would drop a live file (lake/keyset.Exact is for that).
//
// A set is built by many goroutines and then used by many: a Builder has no
// Has, and a Set has no Add, so that an incomplete set can't be asked.
package keyset

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/lakesweep/lakesweep/lake"
)

const shardCount = 256

// Builder collects keys. Safe for concurrent use.
//
// Memory: 9 to 12 bytes a key.
type Builder struct {
	seed    uint64
	shards  [shardCount]shard
	bounded *bounded // nil for one that keeps all in memory
}

type shard struct {
	mu    sync.Mutex
	slots []uint64 // fingerprints, 0 is free
	marks []uint32 // 2 bits a slot: expected, seen
	n     int
}

const (
	expected = 1
	seen     = 2
)

// New returns an empty Builder whose fingerprints are keyed by a random seed.
func New() *Builder { return &Builder{seed: rand.Uint64()} }

// Add protects k.
func (b *Builder) Add(k lake.Key) { b.add(k, 0) }

// AddExpected protects k and expects a complete listing to Mark it.
func (b *Builder) AddExpected(k lake.Key) { b.add(k, expected) }

// AddNew adds k and reports whether it is new. A false answer may be wrong, a
// true one never is.
func (b *Builder) AddNew(k lake.Key) bool { return b.add(k, 0) }

func (b *Builder) add(k lake.Key, mark uint32) bool {
	fp := fingerprint(k, b.seed)
	s := &b.shards[fp>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= s.most() {
		b.room(int(fp >> 56))
	}
	if i, ok := find(s.slots, fp); ok {
		s.marks[i/16] |= mark << (i % 16 * 2)
		return false
	} else {
		s.slots[i] = fp
		s.marks[i/16] |= mark << (i % 16 * 2)
		s.n++
		return true
	}
}

// most is how many keys a shard takes before it grows. Searches are short in
// small ones, which cost 20 MiB at most for the whole set.
func (s *shard) most() int {
	if len(s.slots) <= smallShard {
		return len(s.slots) * 5 / 8
	}
	return len(s.slots) * 7 / 8
}

const smallShard = 8192

// grown is the number of slots that a full shard grows to: small ones double.
func (s *shard) grown() int {
	if len(s.slots) < smallShard {
		return max(64, len(s.slots)*2)
	}
	return len(s.slots) * 5 / 4
}

func (s *shard) grow() {
	size := s.grown()
	slots, marks := make([]uint64, size), make([]uint32, (size+15)/16)
	for i, fp := range s.slots {
		if fp != 0 {
			j, _ := find(slots, fp)
			slots[j] = fp
			marks[j/16] |= s.marks[i/16] >> (i % 16 * 2) & 3 << (j % 16 * 2)
		}
	}
	s.slots, s.marks = slots, marks
}

// home returns where among n slots the search for fp begins.
func home(fp uint64, n int) int {
	hi, _ := bits.Mul64(fp<<8, uint64(n))
	return int(hi)
}

// find returns the slot of fp, or the free slot where it belongs.
func find(slots []uint64, fp uint64) (int, bool) {
	for i := home(fp, len(slots)); ; i++ {
		if i == len(slots) {
			i = 0
		}
		switch slots[i] {
		case fp:
			return i, true
		case 0:
			return i, false
		}
	}
}

// Done returns the finished set of a Builder that New made. The Builder must
// not be used any more.
func (b *Builder) Done() *Set {
	if b.bounded != nil {
		panic("keyset: a bounded Builder is finished by Finish, which can fail")
	}
	s := &Set{seed: b.seed}
	for i := range b.shards {
		s.shards[i].slots, s.shards[i].marks = b.shards[i].slots, b.shards[i].marks
		s.n += int64(b.shards[i].n)
	}
	return s
}

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

// Mark is Has, and remembers that k was seen in storage.
func (s *Set) Mark(k lake.Key) bool {
	has, _ := s.MarkFirst(k)
	return has
}

// MarkFirst is Mark, and reports whether no call before marked k.
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
			fp := fingerprint(k, s.seed)
			prints[i], homes[i] = fp, -1
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

// Seen reports whether Mark saw k.
func (s *Set) Seen(k lake.Key) bool {
	fp := fingerprint(k, s.seed)
	sh := &s.shards[fp>>56]
	i, _, ok := s.index(fp, false)
	return ok && atomic.LoadUint32(&sh.marks[i/16])>>(i%16*2)&seen != 0
}

// Expected counts the keys added by AddExpected, and those of them that Mark saw.
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

func fingerprint(k lake.Key, seed uint64) uint64 {
	return max(xxh3.HashStringSeed(string(k), seed), 1)
}

// Expects reports whether AddExpected added k.
func (s *Set) Expects(k lake.Key) bool {
	fp := fingerprint(k, s.seed)
	sh := &s.shards[fp>>56]
	i, _, ok := s.index(fp, false)
	return ok && atomic.LoadUint32(&sh.marks[i/16])>>(i%16*2)&expected != 0
}
