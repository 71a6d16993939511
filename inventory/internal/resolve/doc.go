// Package resolve says below which tables the names of a list lie.
//
// Invariants:
//
//  1. Names are compared by whole components, within one bucket or file system,
//     and never decoded.
//  2. A name that no listing would show is left out and counted.
//
// It doesn't know where rows come from.
package resolve
