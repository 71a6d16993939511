// Package guard holds the named checks that stand between a plan and its
// execution. Each has a code, a sentence and a fix (docs/guards.md).
//
// Invariants:
//
//  1. A guard judges the head of a plan and nothing else, so that a plan file
//     gets the same answer whenever it is asked.
//  2. Only Clear makes a Cleared, and only of a plan that no guard refuses.
//  3. An override names the table as the command line gave it.
package guard
