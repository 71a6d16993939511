// Package logfault gives faults of a Delta log their kinds and words: what the
// store did, what is damaged, and what is damaged in a checkpoint only, where
// an older one, or the commits, may still give the state.
package logfault

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// KindOf gives errors of a store their kind.
func KindOf(err error) lake.Kind {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return lake.Denied
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return lake.Interrupted
	case errors.Is(err, store.ErrThrottled), errors.Is(err, store.ErrTruncated):
		return lake.Transient
	}
	if k := lake.KindOf(err); k != lake.Internal {
		return k
	}
	return lake.Transient
}

// Damaged is an error of a file of the log that makes no sense.
func Damaged(name string, err error) error {
	return &lake.Error{Op: "read log", Key: lake.Key(name), Kind: lake.Damaged, Err: err,
		Hint: "Nothing was deleted. Check the log with another engine, or restore this file of _delta_log."}
}

// ReadError is an error of the store, of a file that must be there.
func ReadError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Damaged(name, err)
	}
	return &lake.Error{Op: "read log", Key: lake.Key(name), Kind: KindOf(err), Err: err}
}

// LineError says which file of the log a fault of one of its actions is in.
func LineError(name string, err error) error {
	e := &lake.Error{}
	if errors.As(err, &e) {
		return &lake.Error{Op: "replay " + name, Kind: e.Kind, Code: e.Code, Err: err}
	}
	return Damaged(name, err)
}

// corruptError is a fault inside a checkpoint: an older one, or the commits,
// may still give the state.
type corruptError struct{ err error }

func (c *corruptError) Error() string { return c.err.Error() }
func (c *corruptError) Unwrap() error { return c.err }

// Corrupt is Damaged, of a checkpoint.
func Corrupt(name string, err error) error { return &corruptError{Damaged(name, err)} }

// IsCorrupt reports whether an error says that a checkpoint is damaged.
func IsCorrupt(err error) bool {
	_, ok := errors.AsType[*corruptError](err)
	return ok && lake.KindOf(err) == lake.Damaged
}

// AsCorrupt makes a damaged checkpoint of a damaged file.
func AsCorrupt(err error) error {
	if err != nil && lake.KindOf(err) == lake.Damaged && !IsCorrupt(err) {
		return &corruptError{err}
	}
	return err
}
