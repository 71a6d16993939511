package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/lakesweep/lakesweep/lake"
)

// The exit statuses; docs/exit-codes.md is their contract.
const (
	exitOther       = 1
	exitUsage       = 2
	exitPartial     = 3
	exitRefused     = 4
	exitStale       = 5
	exitLimit       = 6
	exitTable       = 10
	exitLocked      = 11
	exitDenied      = 12
	exitNotEmpty    = 20
	exitInterrupted = 130
	exitTerminated  = 143
)

// exitStatus is the one place where a kind becomes a status.
func exitStatus(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	switch lake.KindOf(err) {
	case lake.Invalid:
		return exitUsage
	case lake.Partial:
		return exitPartial
	case lake.Refused:
		return exitRefused
	case lake.Stale:
		return exitStale
	case lake.Limit:
		return exitLimit
	case lake.NotTable, lake.Damaged, lake.Unsupported:
		return exitTable
	case lake.Locked:
		return exitLocked
	case lake.Denied:
		return exitDenied
	case lake.Interrupted:
		if i, ok := errors.AsType[interruptError](context.Cause(ctx)); ok && i.signal == syscall.SIGTERM {
			return exitTerminated
		}
		return exitInterrupted
	}
	return exitOther
}

// worst returns the graver of two statuses: an interrupt before all, then in
// the order in which the document lists them.
func worst(a, b int) int {
	order := []int{exitInterrupted, exitTerminated, exitOther, exitUsage, exitPartial, exitRefused, exitStale,
		exitLimit, exitTable, exitLocked, exitDenied, exitNotEmpty, 0}
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

// interruptError is the cause of a context that a signal ended.
type interruptError struct{ signal os.Signal }

func (e interruptError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// Interrupt returns the cause with which to cancel Main's context on a signal.
func Interrupt(s os.Signal) error { return interruptError{s} }

// usageError is what the command line itself got wrong.
func usageError(err error) error {
	return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "See lakesweep --help, or lakesweep COMMAND --help."}
}

// invalid is a usageError with its own words.
func invalid(hint, format string, args ...any) error {
	return &lake.Error{Kind: lake.Invalid, Err: fmt.Errorf(format, args...), Hint: hint}
}

// hint says what to do next about err.
func hint(err error) string {
	if h := lake.HintOf(err); h != "" {
		return h
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return "Make room on that disk (temporary files go to TMPDIR), then run the same command again."
	}
	switch lake.KindOf(err) {
	case lake.Transient:
		return "Run the same command again: the store didn't answer."
	case lake.Invalid:
		return "See lakesweep COMMAND --help."
	case lake.Partial:
		return "Run the same command again: it tries what is left."
	case lake.Refused:
		return "Nothing was deleted. docs/guards.md explains each guard and its fix."
	case lake.Stale:
		return "Make a new plan: lakesweep plan TABLE --out FILE."
	case lake.Limit:
		return "Run the same command again: it goes on from here."
	case lake.NotTable:
		return "Name the folder that holds _delta_log or .hoodie."
	case lake.Damaged:
		return "Nothing was deleted. lakesweep verify TABLE shows what is missing."
	case lake.Unsupported:
		return "Nothing was deleted. Use the engine that wrote the table, or a newer lakesweep."
	case lake.Locked:
		return "Wait for the other run to end, or see lakesweep doctor TABLE."
	case lake.Denied:
		return "lakesweep doctor TABLE says which permission is missing."
	case lake.Interrupted:
		return "Run the same command again: it goes on from here."
	}
	return "Run with -v for details; if it stays, please report it with the output of lakesweep version."
}
