// Package reap carries out a cleared plan: it deletes in batches, or moves to
// a quarantine, and journals what it does. It alone holds a store.Deleter.
//
// Invariants:
//
//  1. Intent first, then bytes, then the record of what the store confirmed
//     (law L5). Killed at any call, a run leaves garbage, never a hole, and the
//     same command goes on from its journal.
//  2. Nothing is deleted that the guardian protects at its last refresh, a few
//     seconds ago at most (law L6).
//  3. Names of logs and timelines are refused here once more, whatever the plan says.
//  4. Directories go one by one, empty, deepest first; nothing is deleted by prefix.
package reap
