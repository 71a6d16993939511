// Package syntax parses the condition of a WHERE, by the grammar of Spark 3.5.
//
// Invariants:
//
//  1. Every fault has a place in the text.
//  2. Depth and size are bounded, so no text exhausts the stack.
//
// It knows no columns; which functions there are it is told.
package syntax
