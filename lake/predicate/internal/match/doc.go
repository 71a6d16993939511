// Package match turns the patterns of LIKE and RLIKE into Go's regular expressions.
//
// Invariants:
//
//  1. What might mean something else to Java is refused, never approximated.
//
// It knows no values and no expressions.
package match
