// Package snapshot opens a Hudi table of version 6, 8 or 9 and holds it as it
// was then: its properties, its timeline, the metadata table's listing, and
// what is spoken for.
//
// Invariants:
//
//  1. A table of another version, format or type is refused, and so is a
//     timeline at a strange place.
//  2. A metadata table that can't be trusted isn't used: folders are listed
//     alone, and Distrust says why.
//  3. Only the timeline and the properties follow what is read later. What was
//     committed, and what is spoken for, stays.
//
// The package must not know what a clean is.
//
// Source: spec/hudi-clean.md sections 1.1 and 1.2.
package snapshot
