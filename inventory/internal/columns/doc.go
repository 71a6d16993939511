// Package columns finds out what each column of a list is, by the names that
// stores, engines and people give it, or as the user says.
//
// Invariants:
//
//  1. What the user says comes first.
//  2. A list without a column of paths is refused.
//
// It doesn't know what the values look like.
package columns
