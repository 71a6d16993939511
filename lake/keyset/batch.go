package keyset

import "github.com/lakesweep/lakesweep/lake"

// Batch hands keys on to a Builder, many at once: those of one shard after
// those of another, which takes half the time of as many Adds, since a shard is
// near while its keys come. Not safe for concurrent use.
//
// Memory: 128 KiB.
type Batch struct {
	b      *Builder
	came   []marked // since the last Flush
	sorted []marked // by shard; between calls only its room counts
}

// marked is a fingerprint and what it is marked as.
type marked struct {
	fp   uint64
	mark uint32
}

// batchKeys is how many keys a Batch holds: some for each shard.
const batchKeys = 16 * shardCount

// NewBatch returns an empty Batch. What it takes is in b only after a Flush.
func NewBatch(b *Builder) *Batch { return &Batch{b: b} }

// Add is Builder.Add.
func (t *Batch) Add(k lake.Key) { t.add(k, 0) }

// AddExpected is Builder.AddExpected.
func (t *Batch) AddExpected(k lake.Key) { t.add(k, expected) }

func (t *Batch) add(k lake.Key, mark uint32) {
	t.came = append(t.came, marked{fingerprint(k, t.b.seed), mark})
	if len(t.came) == batchKeys {
		t.Flush()
	}
}

// Flush adds to the Builder what the Batch still holds.
func (t *Batch) Flush() {
	if len(t.came) == 0 {
		return
	}
	if t.sorted == nil {
		t.sorted = make([]marked, batchKeys)
	}
	var ends [shardCount]int
	for _, m := range t.came {
		ends[m.fp>>56]++
	}
	sum := 0
	for i, n := range ends {
		ends[i], sum = sum, sum+n // for now where each shard's begin
	}
	for _, m := range t.came {
		t.sorted[ends[m.fp>>56]] = m
		ends[m.fp>>56]++
	}
	from := 0
	for i, end := range ends {
		if from < end {
			t.b.addAll(i, t.sorted[from:end])
		}
		from = end
	}
	t.came = t.came[:0]
}

// addAll adds fingerprints of one shard.
func (b *Builder) addAll(shard int, all []marked) {
	s := &b.shards[shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range all {
		b.put(m.fp, m.mark)
	}
}
