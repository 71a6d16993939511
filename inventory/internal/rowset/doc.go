// Package rowset judges the rows of a list and hands on those that name objects
// of today, in batches.
//
// Invariants:
//
//  1. A row in doubt (no name, a version that isn't the latest, a name that can't
//     be decoded) is left out and counted.
//  2. A row of a journal is left out only where a deletion is certain to be later.
//
// It doesn't know files or formats, nor below which table a row lies.
package rowset
