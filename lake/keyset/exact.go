package keyset

import (
	"math/rand/v2"
	"sync"

	"github.com/zeebo/xxh3"
)

// Exact is a set of strings by keyed 128-bit fingerprints, for log replay,
// where a collision would drop a live file: two of 10^9 strings collide with
// a probability of about 10^-21. Safe for concurrent use.
//
// Memory: 21 to 43 bytes a string, twice the lower figure while it grows.
// Source: design/architecture.md, "The protected set".
type Exact struct {
	seed  uint64
	mu    sync.RWMutex
	slots [][2]uint64 // a power of two of them; the zero fingerprint is free
	n     int
}

// NewExact returns an empty set keyed by a random seed.
func NewExact() *Exact { return &Exact{seed: rand.Uint64()} }

// Add adds the string made of parts, kept apart by their lengths, and reports whether it is new.
func (e *Exact) Add(parts ...string) bool {
	h := e.hash(parts)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n >= len(e.slots)/4*3 {
		e.grow()
	}
	i, ok := slotOf(e.slots, h)
	if !ok {
		e.slots[i] = h
		e.n++
	}
	return !ok
}

// Has reports whether the parts were added.
func (e *Exact) Has(parts ...string) bool {
	h := e.hash(parts)
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.n == 0 {
		return false
	}
	_, ok := slotOf(e.slots, h)
	return ok
}

// Len returns the number of strings.
func (e *Exact) Len() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.n
}

func (e *Exact) grow() {
	slots := make([][2]uint64, max(16, 2*len(e.slots)))
	for _, h := range e.slots {
		if h != ([2]uint64{}) {
			i, _ := slotOf(slots, h)
			slots[i] = h
		}
	}
	e.slots = slots
}

// slotOf returns the slot of h, or the free slot where it belongs.
func slotOf(slots [][2]uint64, h [2]uint64) (int, bool) {
	mask := uint64(len(slots) - 1)
	for i := h[1] & mask; ; i = (i + 1) & mask {
		switch slots[i] {
		case h:
			return int(i), true
		case [2]uint64{}:
			return int(i), false
		}
	}
}

func (e *Exact) hash(parts []string) [2]uint64 {
	h := xxh3.HashString128Seed(parts[0], e.seed)
	for _, p := range parts[1:] {
		next := xxh3.HashString128Seed(p, h.Lo^uint64(len(p)))
		h.Hi, h.Lo = h.Hi*0x9e3779b97f4a7c15^next.Hi, next.Lo
	}
	if h.Hi == 0 && h.Lo == 0 {
		h.Hi = 1 // the zero fingerprint marks free slots
	}
	return [2]uint64{h.Hi, h.Lo}
}
