// Package plan is the plan document: a list of dead objects, its head and its
// digest, in one Parquet file (lake/filelist).
//
// Invariants:
//
//  1. A Plan exists only after its digest was verified, and never changes.
//  2. It is carried out verbatim: no row is added, none is re-interpreted.
package plan
