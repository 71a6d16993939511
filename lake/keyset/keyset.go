// Package keyset is a set of lake.Keys by keyed 64-bit fingerprints, for the
// protected set: a collision makes a dead object look protected, so it errs
// only towards keeping. It must never decide that something is absent from a
// log, where a collision would drop a live file (Exact is for that).
//
// A set is built by many goroutines and then used by many: a Builder has no
// Has, and a Set has no Add, so that an incomplete set can't be asked.
package keyset

import (
	"math/bits"
	"math/rand/v2"
	"sync"

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

// AddExpected protects k and expects a complete listing to mark it.
func (b *Builder) AddExpected(k lake.Key) { b.add(k, expected) }

// AddNew adds k and reports whether it is new. A false answer may be wrong, a
// true one never is.
func (b *Builder) AddNew(k lake.Key) bool { return b.add(k, 0) }

func (b *Builder) add(k lake.Key, mark uint32) bool {
	fp := fingerprint(k, b.seed)
	s := &b.shards[fp>>56]
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.put(fp, mark)
}

// put adds a fingerprint to its shard, whose lock the caller holds, and reports
// whether it is new.
func (b *Builder) put(fp uint64, mark uint32) bool {
	s := &b.shards[fp>>56]
	if s.n >= s.most() {
		b.room(int(fp >> 56))
	}
	i, ok := find(s.slots, fp)
	s.marks[i/16] |= mark << (i % 16 * 2)
	if !ok {
		s.slots[i] = fp
		s.n++
	}
	return !ok
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

func fingerprint(k lake.Key, seed uint64) uint64 {
	return max(xxh3.HashStringSeed(string(k), seed), 1)
}
