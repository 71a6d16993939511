// Package where narrows the candidates of a Delta table to the partitions that
// a predicate names.
//
// Invariants:
//
//  1. It never touches the protected set: what it decides can only keep files.
//  2. What neither the log nor a name tells the partition of is Unknown, and
//     stays.
//  3. Where the protected set tells of some directories only, nothing matches
//     outside them.
//
// The package must not know where candidates come from.
package where
