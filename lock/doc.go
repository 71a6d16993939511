// Package lock is leases on a table: the lock that a table's other writers take
// too, so that a plan is published and completed in one piece; and, for formats
// that have no such lock, a lease that only our own runs know.
//
// Invariants:
//
//  1. A Lease is verified before each irreversible step, and says no when in
//     doubt.
//  2. Only what is ours is released.
//  3. A lock that other writers take too is held for moments, never while
//     objects are deleted. The advisory lease of a run is held for the run.
package lock
