package lake

import (
	"errors"
	"strings"
)

// Kind is the closed list of what can end a run; each has one exit status
// (docs/exit-codes.md). The zero Kind is Internal.
type Kind uint8

// The kinds of errors.
const (
	Internal    Kind = iota // a fault of lakesweep's or of the machine's
	Transient               // may pass: the store didn't answer after all retries
	Invalid                 // a flag, a predicate or another input is wrong
	Partial                 // done, but some objects were not deleted
	Refused                 // a guard refused
	Stale                   // the plan no longer fits the table
	Limit                   // a limit was reached, the run can be resumed
	NotTable                // there is no table at the place named
	Damaged                 // the log or timeline can't be read as a whole
	Unsupported             // the table uses something unknown to lakesweep
	Locked                  // somebody holds the table, or no lock can be had
	Denied                  // the store denies access
	Interrupted             // a signal ended the run, it can be resumed
)

var kindNames = [...]string{"internal", "transient", "invalid", "partial", "refused", "stale", "limit",
	"not_table", "damaged", "unsupported", "locked", "denied", "interrupted"}

// String returns the name that the JSON output uses.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "internal"
}

// Error is the one error type that crosses rooms. It prints as
// "op: table: key: cause"; empty parts are left out.
type Error struct {
	Op    string // what was being done, "read checkpoint"
	Table string // the table, as its Root prints
	Key   Key    // the object, if it is about one
	Kind  Kind
	Code  string // a guard's code or another stable name, may be empty
	Err   error  // the cause
	Hint  string // what to do next, a sentence for the user
}

// Error returns the message without the hint.
func (e *Error) Error() string {
	parts := make([]string, 0, 4)
	for _, s := range []string{e.Op, e.Table, string(e.Key)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost Error in err's chain, Internal if
// there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// HintOf returns the first hint in err's chain, "" if there is none.
func HintOf(err error) string {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
