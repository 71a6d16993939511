// Package expr gives types to parsed expressions, all casts included, and makes
// them evaluable.
//
// Invariants:
//
//  1. What Spark would do silently with a loss (cut a number, compare a text that
//     no value is written as) is refused, with what to write instead.
//  2. Nodes never change once they are checked, and keep no Row: they may be
//     evaluated by many goroutines at once.
//  3. A node without columns is evaluated once, when it is made.
//
// It knows nothing of partitions, paths or partial knowledge: what may match
// when columns are missing is decided by package predicate.
package expr
