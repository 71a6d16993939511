package delta

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// kindOf gives errors of a store their kind.
func kindOf(err error) lake.Kind {
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

// damaged is an error of a file of the log that makes no sense.
func damaged(name string, err error) error {
	return &lake.Error{Op: "read log", Key: lake.Key(name), Kind: lake.Damaged, Err: err,
		Hint: "Nothing was deleted. Check the log with another engine, or restore this file of _delta_log."}
}

// readError is an error of the store, of a file that must be there.
func readError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(name, err)
	}
	return &lake.Error{Op: "read log", Key: lake.Key(name), Kind: kindOf(err), Err: err}
}

// lineError says which file of the log a fault of one of its actions is in.
func lineError(name string, err error) error {
	e := &lake.Error{}
	if errors.As(err, &e) {
		return &lake.Error{Op: "replay " + name, Kind: e.Kind, Code: e.Code, Err: err}
	}
	return damaged(name, err)
}

// corruptError is a fault inside a checkpoint: an older one, or the commits,
// may still give the state.
type corruptError struct{ err error }

func (c *corruptError) Error() string { return c.err.Error() }
func (c *corruptError) Unwrap() error { return c.err }

// corrupt is damaged, of a checkpoint.
func corrupt(name string, err error) error { return &corruptError{damaged(name, err)} }

// isCorrupt reports whether an error says that a checkpoint is damaged.
func isCorrupt(err error) bool {
	_, ok := errors.AsType[*corruptError](err)
	return ok && lake.KindOf(err) == lake.Damaged
}

// asCorrupt makes a damaged checkpoint of a damaged file.
func asCorrupt(err error) error {
	if err != nil && lake.KindOf(err) == lake.Damaged && !isCorrupt(err) {
		return &corruptError{err}
	}
	return err
}
