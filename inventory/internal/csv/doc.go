// Package csv cuts texts of comma-separated values (RFC 4180) into records.
//
// Invariants:
//
//  1. A text is split as encoding/csv does, or refused.
//  2. A record is bounded, so a file that is no list takes no memory.
//
// It doesn't know which column is which.
package csv
