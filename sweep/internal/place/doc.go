// Package place tells where a table lies, what its names mean, and what is
// around it and inside it.
//
// A Finder reads arguments of the command line, opens places, and finds tables
// around them. A Place is an opened root: its names, its reader, the clocks and
// the store's state.
//
// Invariants:
//
//  1. Nothing here writes: a Place holds a reader alone.
//  2. Now is the earlier of our clock and the store's, read once.
//  3. A folder that can't be told from a table's is an error, never "no table";
//     only folders above the root that may not be read are taken for none.
//
// The package must not know what is planned, nor what is protected.
package place
