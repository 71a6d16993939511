// Package txlog opens a transaction log and replays it: the newest version, its
// protocol and metadata, when commits were made, and which actions of the
// commits and the checkpoint below them count.
//
// Invariants:
//
//  1. An action's identity is (path as stored, deletion vector id). Paths are
//     never normalised here.
//  2. The protocol gate runs in Open, so no path leads around it.
//  3. Whatever can't be read in full ends with an error; a replay whose counts
//     differ from the checksum file's is Damaged.
//
// Sources: Delta PROTOCOL.md "Action Reconciliation", "In-Commit Timestamps";
// spec/delta-vacuum.md 1.2-1.5.
package txlog
