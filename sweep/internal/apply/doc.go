// Package apply opens what carrying out a plan takes: the cleared plan, the
// place to delete from, the lease, the quarantine and the journal. It opens all
// of it for Delta tables, and for others what doesn't depend on the format.
//
// Invariants:
//
//  1. Nothing is deleted here; reap does that with the job that was opened.
//  2. A Delta table's lease is taken before anything of the run is written, and
//     verified before the first delete and between batches.
//  3. Quarantines and journals lie outside every table.
//
// The package must not know how a plan is made.
package apply
