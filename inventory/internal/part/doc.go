// Package part reads one file of a list: unpacked and whole, its beginning, or
// ranges of it.
//
// Invariants:
//
//  1. What was read counts only once the size and the sum that a manifest states
//     were compared, to the last byte.
//  2. Errors name the file and say what to do.
//
// It doesn't know what the bytes mean.
package part
