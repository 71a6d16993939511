// Package plan is the plan document: a list of dead objects, its head and its
// digest, in one Parquet file (lake/filelist), or held for a run that carries
// it out at once.
//
// Invariants:
//
//  1. A Plan exists only after its rows were verified, and with them the digest
//     of one in a file. It never changes.
//  2. It is carried out verbatim: no row is added, none is re-interpreted.
package plan
