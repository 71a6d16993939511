// Package verify compares the live files of a Delta table with what storage
// holds.
//
// Invariants:
//
//  1. It changes nothing.
//  2. What can't be looked at is told of, or an error; it is never taken for sound.
//
// The package must not know what is planned.
package verify
