package delta

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/checkpoint"
)

// Removed is what the log knows about a file that nothing needs any more.
type Removed struct {
	Reason     lake.Reason      // Tombstone, DeletionVector or ChangeData
	Time       time.Time        // effective removal time; zero if unknown
	Size       int64            // -1 if unknown
	Partitions []lake.Partition // all values that actions gave it, if asked for; a nil Partition is unknown, columns that an action lacks are absent
}

// removals remembers removed files by keyed 64-bit fingerprints: it only gives
// dead files their reason and values, and never makes one dead.
type removals struct {
	seed  uint64
	mu    sync.Mutex
	files map[uint64]removal
	more  map[uint64][]int32 // further values of files that were given several
}

type removal struct {
	time   int64 // ms
	size   int64
	values int32
	reason uint8
}

var removalReasons = [...]lake.Reason{lake.Tombstone, lake.DeletionVector, lake.ChangeData}

const (
	byRemove uint8 = iota
	byDV
	byFeed
)

func newRemovals(seed uint64) *removals {
	return &removals{seed: seed, files: map[uint64]removal{}, more: map[uint64][]int32{}}
}

// add notes a removal of k. Of several the latest time counts, the first reason
// in the order of the constants, and all values: in which order they come is
// nothing to it.
func (r *removals) add(k lake.Key, n removal) {
	fp := xxh3.HashStringSeed(string(k), r.seed)
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.files[fp]
	if !ok {
		r.files[fp] = n
		return
	}
	old.values = r.also(fp, old.values, n.values)
	old.reason = min(old.reason, n.reason)
	old.time, old.size = max(old.time, n.time), max(old.size, n.size)
	r.files[fp] = old
}

// merge adds values to a removal, if there is one.
func (r *removals) merge(k lake.Key, values int32) {
	fp := xxh3.HashStringSeed(string(k), r.seed)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.files[fp]; ok {
		old.values = r.also(fp, old.values, values)
		r.files[fp] = old
	}
}

// also notes further values and returns the first ones. Unknown ones give way
// to known ones: a remove need not carry what its add said.
func (r *removals) also(fp uint64, first, values int32) int32 {
	switch {
	case first == 0:
		return values
	case values != first && values != 0 && !slices.Contains(r.more[fp], values):
		r.more[fp] = append(r.more[fp], values)
	}
	return first
}

// empty reports whether nothing was removed.
func (r *removals) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.files) == 0
}

func (r *removals) get(k lake.Key, parts *checkpoint.Partitions) (Removed, bool) {
	fp := xxh3.HashStringSeed(string(k), r.seed)
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.files[fp]
	if !ok {
		return Removed{}, false
	}
	out := Removed{Reason: removalReasons[n.reason], Size: n.size}
	if n.time > 0 {
		out.Time = time.UnixMilli(n.time).UTC()
	}
	if parts != nil {
		out.Partitions = append(out.Partitions, parts.Tuple(n.values))
		for _, v := range r.more[fp] {
			out.Partitions = append(out.Partitions, parts.Tuple(v))
		}
		slices.SortFunc(out.Partitions, comparePartitions)
	}
	return out, true
}

// comparePartitions orders values of the columns of one table.
func comparePartitions(a, b lake.Partition) int {
	return slices.CompareFunc(a, b, func(v, w lake.PartitionValue) int {
		return cmp.Or(cmp.Compare(v.Column, w.Column), cmp.Compare(v.Value, w.Value))
	})
}
