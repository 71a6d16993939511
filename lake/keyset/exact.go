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
// Source: design/architecture.md, "The protected set".
type Exact struct {
	seed uint64
	mu   sync.RWMutex
	m    map[[2]uint64]struct{}
}

// NewExact returns an empty set keyed by a random seed.
func NewExact() *Exact {
	return &Exact{seed: rand.Uint64(), m: make(map[[2]uint64]struct{})}
}

// Add adds the string made of parts, kept apart by their lengths, and reports whether it is new.
func (e *Exact) Add(parts ...string) bool {
	h := e.hash(parts)
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.m[h]; ok {
		return false
	}
	e.m[h] = struct{}{}
	return true
}

// Has reports whether the parts were added.
func (e *Exact) Has(parts ...string) bool {
	h := e.hash(parts)
	e.mu.RLock()
	defer e.mu.RUnlock()
	_, ok := e.m[h]
	return ok
}

// Len returns the number of strings.
func (e *Exact) Len() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.m)
}

func (e *Exact) hash(parts []string) [2]uint64 {
	h := xxh3.HashString128Seed(parts[0], e.seed)
	for _, p := range parts[1:] {
		next := xxh3.HashString128Seed(p, h.Lo^uint64(len(p)))
		h.Hi, h.Lo = h.Hi*0x9e3779b97f4a7c15^next.Hi, next.Lo
	}
	return [2]uint64{h.Hi, h.Lo}
}
