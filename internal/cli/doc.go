// Package cli is the command line: it reads flags, environment and settings,
// asks the engine, and renders answers, progress and errors. It is the only
// package that knows cobra, and the place where stores and formats are listed.
//
// Invariants:
//
//  1. Data goes to standard output, all talk to standard error.
//  2. Nothing is deleted without --yes or a person's yes on a terminal.
//  3. Each kind of error has one exit status (docs/exit-codes.md), and each
//     error ends with what to do next.
package cli
