// Package journal finds the journals of runs, gives them their places, and
// tells what they record as gone.
//
// A run's journal lies where the user says, beside its quarantine, or in the
// state directory.
//
// Invariants:
//
//  1. A journal never lies inside a table.
//  2. The journal of a run that moves into quarantine lies beside it or where
//     the user says, and is never removed: it is the index of what lies there.
//  3. Only a journal that this package named, of a run that is over, is removed.
//
// The package must not know what a plan lists, nor how a line is made: that is
// filelist's and reap's.
package journal
