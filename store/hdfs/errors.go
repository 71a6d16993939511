package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"

	native "github.com/colinmarc/hdfs/v2"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// classify wraps an error of a call with the sentinel or kind that callers act on.
func classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, done := errors.AsType[*lake.Error](err); done {
		return err
	}
	var remote native.Error
	if errors.As(err, &remote) {
		return byException(remote.Exception(), err)
	}
	for _, sentinel := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, store.ErrChanged, store.ErrUnsupported, store.ErrTruncated} {
		if errors.Is(err, sentinel) {
			return fmt.Errorf("%w: %w", sentinel, err) // an ENOTEMPTY is one too
		}
	}
	// The library has no types for these.
	switch text := err.Error(); {
	case strings.Contains(text, "SASL handshake"), strings.Contains(text, "kerberos"), strings.Contains(text, "Kerberos"):
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err),
			Hint: "Run kinit, or set LAKESWEEP_HDFS_KEYTAB and LAKESWEEP_HDFS_PRINCIPAL; check LAKESWEEP_HDFS_NAMENODE_PRINCIPAL."}
	case strings.Contains(text, "no such host"):
		return &lake.Error{Kind: lake.Invalid, Err: err, Hint: "Check the name node's address, or HADOOP_CONF_DIR for a name service."}
	case strings.Contains(text, "no available namenodes"):
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	if _, network := errors.AsType[net.Error](err); network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return &lake.Error{Kind: lake.Transient, Err: err}
	}
	return err
}

// byException classifies what a name node answered by the class of its exception.
func byException(class string, err error) error {
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "FileNotFoundException", "ParentNotDirectoryException":
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case "AccessControlException", "AuthorizationException":
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case "PathIsNotEmptyDirectoryException", "FileAlreadyExistsException", "AlreadyBeingCreatedException":
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	case "InvalidPathException", "HadoopIllegalArgumentException":
		return fmt.Errorf("%w: %w", fs.ErrInvalid, err)
	case "RetriableException":
		return fmt.Errorf("%w: %w", store.ErrThrottled, err)
	case "SafeModeException":
		return &lake.Error{Kind: lake.Transient, Err: err, Hint: "The name node is in safe mode; try again when it has left it."}
	case "StandbyException", "ObserverRetryOnActiveException":
		return &lake.Error{Kind: lake.Transient, Err: err, Hint: "No name node is active; check HADOOP_CONF_DIR for the name service."}
	case "SaslException", "AccessTokenException", "InvalidToken":
		return &lake.Error{Kind: lake.Denied, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err), Hint: "Run kinit, or set LAKESWEEP_HDFS_KEYTAB and LAKESWEEP_HDFS_PRINCIPAL."}
	}
	return err
}
