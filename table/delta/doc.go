// Package delta says what the log of a Delta table means for its files: what is
// live, what history still needs, what the log removed and when, and which
// names below the root belong to the table at all.
//
// The log itself is read by packages of its own: table/delta/logdir (the
// folder), logline (the lines), checkpoint, meta (protocol, metadata, hidden
// names) and txlog (which of all actions count).
//
// Invariants:
//
//  1. Paths are normalised for protection only, after reconciliation.
//  2. A file is needed if it was live at any instant from the cutoff on. It
//     stopped being live at the later of its deletionTimestamp and the time of
//     the commit that removed it.
//  3. What the log can't prove is an error or said by name (HistoryGap).
//
// The package knows nothing of listings, plans or deletes; it writes only
// through Recorder.
//
// Sources: Delta PROTOCOL.md; spec/delta-vacuum.md sections 0-4, 10, 11.
package delta
