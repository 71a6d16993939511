// Package blobs is what planning, carrying out and asking about a Hudi table
// does of the external blobs that its records refer to.
//
// A plan's blobs are found by a Planner, a Run carries them out around the
// clean of the file slices, and a Table answers questions: what refers to a
// blob, which are missing or unreferenced, what a write refers to.
//
// Invariants:
//
//  1. Planning asks for nothing before it is known that the table refers to blobs.
//  2. What the clean lets go is queued durably before the clean is published.
//  3. A blob dies only through package drain, below an allowed root whose claim
//     names no table but those that were given.
//
// The package must not know how a Hudi table's slices are planned or cleaned.
//
// Source: design/blob-safety.md; docs/blobs.md.
package blobs
