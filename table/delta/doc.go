// Package delta reads the transaction log of a Delta table: what is live, what
// history still needs, what the log removed and when, and which names below
// the root belong to the table at all.
//
// Invariants:
//
//  1. The log is listed once, completely; _last_checkpoint is never authority.
//  2. An action's identity is (path as stored, deletion vector id). Paths are
//     normalised for protection only, never before reconciliation.
//  3. Whatever can't be read in full ends with an error: a commit that is
//     empty, cut or missing, a missing part or sidecar, a count that differs
//     from the checksum file's.
//  4. The protocol gate runs in Open, so no path leads around it.
//  5. A file is needed if it was live at any instant from the cutoff on. It
//     stopped being live at the later of its deletionTimestamp and the time of
//     the commit that removed it.
//
// The package knows nothing of listings, plans or deletes; it writes only
// through Recorder.
//
// Sources: Delta PROTOCOL.md; spec/delta-vacuum.md sections 0-4, 10, 11.
package delta
