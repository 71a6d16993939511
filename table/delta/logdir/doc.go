// Package logdir reads the folder _delta_log as a folder: which files stand
// there by their names, whether they make a whole log, and their lines. What
// the lines say is for others.
//
// Invariants:
//
//  1. The log is listed once, completely; _last_checkpoint is never authority.
//  2. A file that is empty, cut, longer or shorter than its listing said, or
//     missing, is an error: Damaged, and inside a checkpoint corrupt (logfault.IsCorrupt),
//     since an older one or the commits may still give the state.
//
// Sources: Delta PROTOCOL.md "File Types"; spec/delta-vacuum.md 1.1, 1.2.
package logdir
