package reap

import "github.com/lakesweep/lakesweep/lake"

// budget is what the limits have let pass: objects and bytes that were deleted
// or may yet be by a running batch.
type budget struct{ objects, bytes int64 }

// take reserves a row, or names the limit that it doesn't fit into.
func (r *run) take(v *lake.Verdict) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := max(v.Size, 0)
	switch {
	case r.o.MaxDuration > 0 && r.o.Now().Sub(r.started) >= r.o.MaxDuration:
		r.result.Limit = "--max-duration"
	case r.o.MaxDelete > 0 && r.spent.objects+1 > r.o.MaxDelete:
		r.result.Limit = "--max-delete"
	case r.o.MaxBytes > 0 && r.spent.bytes+size > r.o.MaxBytes:
		r.result.Limit = "--max-bytes"
	default:
		r.spent.objects++
		r.spent.bytes += size
		r.result.Limit = ""
		return true
	}
	return false
}

// unspend returns a row that wasn't deleted. The caller holds r.mu.
func (r *run) unspend(v *lake.Verdict) {
	r.spent.objects--
	r.spent.bytes -= max(v.Size, 0)
}
