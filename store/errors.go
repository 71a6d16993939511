package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/lakesweep/lakesweep/lake"
)

// Fail wraps the error of a store's call with the place and the object. Kinds:
// Denied for fs.ErrPermission and read-only file systems, Transient for what Retryable says may pass,
// Interrupted for a cancelled context; an inner lake.Error keeps its own.
func Fail(op string, root lake.Root, name string, err error) error {
	if err == nil {
		return nil
	}
	e := &lake.Error{Op: op, Table: root.String(), Key: lake.Key(name), Err: err}
	_, inner := errors.AsType[*lake.Error](err)
	switch {
	case inner:
		e.Kind = lake.KindOf(err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS): // nobody may write to a read-only file system
		e.Kind = lake.Denied
		e.Hint = "Check the credentials and the policy of the bucket or folder; `lakesweep doctor` lists the permissions that a run needs."
	case errors.Is(err, context.Canceled):
		e.Kind = lake.Interrupted
	case Retryable(err):
		e.Kind = lake.Transient
		e.Hint = "The store didn't answer properly; run the command again."
	}
	return e
}

// Retryable reports whether the same call may do better a little later:
// throttling, cut answers, and what a store marked as lake.Transient. A missing
// object, a failed condition and a cancelled context are final.
func Retryable(err error) bool {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission),
		errors.Is(err, ErrChanged), errors.Is(err, ErrUnsupported):
		return false
	case errors.Is(err, ErrThrottled), errors.Is(err, ErrTruncated), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return lake.KindOf(err) == lake.Transient
}
