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
	slots []Print // a power of two of them; the zero one is free
	n     int
}

// Print is the fingerprint of a string in the Exact that made it. The zero Print
// is that of no string.
type Print [2]uint64

// NewExact returns an empty set keyed by a random seed.
func NewExact() *Exact { return &Exact{seed: rand.Uint64()} }

// Print returns the fingerprint of the string made of parts, kept apart by their lengths.
func (e *Exact) Print(parts ...string) Print {
	h := xxh3.HashString128Seed(parts[0], e.seed)
	for _, p := range parts[1:] {
		next := xxh3.HashString128Seed(p, h.Lo^uint64(len(p)))
		h.Hi, h.Lo = h.Hi*0x9e3779b97f4a7c15^next.Hi, next.Lo
	}
	if h.Hi == 0 && h.Lo == 0 {
		h.Hi = 1 // the zero Print marks free slots
	}
	return Print{h.Hi, h.Lo}
}

// Add adds the string made of parts and reports whether it is new.
func (e *Exact) Add(parts ...string) bool {
	p := e.Print(parts...)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.room(1)
	return e.add(p)
}

const addAtOnce = 256

// AddAll adds the strings of prints, one after the other, and says in fresh of
// each whether it is new; a zero Print never is. It takes half the time of as
// many Adds: a big set lies out of the processor's reach, and here the first
// looks at it don't wait for each other.
func (e *Exact) AddAll(prints []Print, fresh []bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := 0; len(prints) > 0; prints, fresh = prints[n:], fresh[n:] {
		n = min(len(prints), addAtOnce)
		e.room(n)
		mask := uint64(len(e.slots) - 1)
		for i, p := range prints[:n] {
			fresh[i] = e.slots[p[1]&mask] != p
		}
		for i, p := range prints[:n] {
			fresh[i] = fresh[i] && e.add(p)
		}
	}
}

// Has reports whether the string made of parts was added.
func (e *Exact) Has(parts ...string) bool { return e.HasPrint(e.Print(parts...)) }

// HasPrint reports whether the string of p was added.
func (e *Exact) HasPrint(p Print) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.n == 0 || p == (Print{}) {
		return false
	}
	_, ok := slotOf(e.slots, p)
	return ok
}

// Len returns the number of strings.
func (e *Exact) Len() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.n
}

// room makes room for n more.
func (e *Exact) room(n int) {
	size := max(16, len(e.slots))
	for e.n+n > size/4*3 {
		size *= 2
	}
	if size == len(e.slots) {
		return
	}
	slots := make([]Print, size)
	for _, p := range e.slots {
		if p != (Print{}) {
			i, _ := slotOf(slots, p)
			slots[i] = p
		}
	}
	e.slots = slots
}

// add adds p where there is room, and reports whether it is new.
func (e *Exact) add(p Print) bool {
	i, ok := slotOf(e.slots, p)
	if !ok {
		e.slots[i] = p
		e.n++
	}
	return !ok
}

// slotOf returns the slot of p, or the free slot where it belongs.
func slotOf(slots []Print, p Print) (int, bool) {
	mask := uint64(len(slots) - 1)
	for i := p[1] & mask; ; i = (i + 1) & mask {
		switch slots[i] {
		case p:
			return int(i), true
		case Print{}:
			return int(i), false
		}
	}
}
