// Package decode finds out how the files of a list are laid out, and reads their
// rows: Parquet, CSV, JSON lines and plain paths.
//
// Invariants:
//
//  1. A file is read whole, or reading it ends with an error.
//  2. Every file is read in the form that the first one showed.
//
// It doesn't know which files make a list.
package decode
