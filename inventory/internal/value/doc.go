// Package value reads the texts of a list's columns: times, sizes, flags and
// names, and finds out how names are encoded.
//
// Invariants:
//
//  1. A time before 2001 or after now is no time.
//  2. Names are decoded once, and what is malformed is refused.
//  3. An encoding is told by signs that no other encoding leaves, or not at all.
//
// It doesn't know columns, rows or formats.
package value
