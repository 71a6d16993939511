// Package output writes lists of objects in the Parquet form that plans have,
// rows of a listing among them.
//
// Invariants:
//
//  1. After an error there is no list.
//  2. A list's time is that of the start of its scan, by the earlier of our
//     clock and the store's.
//
// It doesn't know other forms of lists.
package output
