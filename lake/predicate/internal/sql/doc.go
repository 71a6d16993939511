// Package sql holds typed values: Spark SQL's types, what they widen to, casts,
// comparison and arithmetic (Spark 3.5, ANSI mode off).
//
// Invariants:
//
//  1. Functions are pure: the same values give the same, whatever the time.
//  2. Where Spark would wrap around, saturate or fail, a Doubt is raised instead.
//  3. A partition's text is read whole or not at all.
//
// It knows no expressions and no columns.
package sql
