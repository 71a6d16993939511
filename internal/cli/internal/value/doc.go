// Package value reads the values of flags: durations, sizes, times, numbers and
// names, with the words that tell a user what was wrong with them.
//
// Invariants:
//
//  1. A number never goes without its unit, and an empty text is no value.
//  2. A text is read as a whole or refused; what is refused changes nothing.
//
// The package must not know which flags there are.
package value
