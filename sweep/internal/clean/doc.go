// Package clean plans a clean of a Hudi table, opens what carrying it out takes,
// and answers questions about the table.
//
// A Run is an opened table with what its clean is to retain: as the table's
// configuration says, then a file of Hudi's own keys, then the request.
//
// Invariants:
//
//  1. A plan carries in its state all that carrying it out needs of its request:
//     the zone, the lock, the vouching.
//  2. No run is opened without the lock of the table's other writers, unless the
//     user vouches that there are none.
//  3. What would refuse a run that is made at once refuses it before the plan.
//
// The package must not know what Delta is. What is due is table/hudi's to say,
// blobs are those of package blobs.
//
// Source: spec/hudi-clean.md.
package clean
