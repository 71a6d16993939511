// Package meta is what a Delta table says of itself: its protocol, which is
// gated here, its metadata with the properties that matter to a vacuum, and
// the rules of hidden names that follow from both. It reads no file.
//
// Sources: Delta PROTOCOL.md; spec/delta-vacuum.md 1.10, 2, 3.4.
package meta
