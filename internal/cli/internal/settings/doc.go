// Package settings fills flags from the environment and from a file, below the
// command line.
//
// Invariants:
//
//  1. A flag on the command line is left alone, whatever else names it.
//  2. A name that is no flag is refused; a file is read as a whole or refused.
//
// The package must not know what a flag means.
package settings
