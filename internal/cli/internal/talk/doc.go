// Package talk is what the command line says beside its data: standard error,
// which the log, prompts and progress share, and the progress of a run.
//
// Invariants:
//
//  1. The bar is wiped off before anything else is written, data included.
//  2. What can't be told because standard error is gone stops no run.
//
// It knows nothing of commands, flags or tables.
package talk
