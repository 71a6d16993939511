package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"golang.org/x/sys/unix"
)

const (
	direntBuffer = 256 << 10 // holds about 6000 entries a system call
	nameBuffer   = 64 << 10  // behind it: room to put names together
)

// Offsets in struct linux_dirent64, see getdents64(2).
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// openDir opens a directory for reading its names. os.Root would follow
// symlinks that stay inside; here no component may be one.
func openDir(root *os.Root, path string) (*os.File, error) {
	dir, err := root.Open(".")
	if err != nil || path == "." {
		return dir, err
	}
	for c := range strings.SplitSeq(path, "/") {
		fd, err := unix.Openat(int(dir.Fd()), c, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		for err == unix.EINTR {
			fd, err = unix.Openat(int(dir.Fd()), c, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		if err = errors.Join(err, dir.Close()); err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		dir = os.NewFile(uintptr(fd), path)
	}
	return dir, nil
}

// read returns up to limit entries, and io.EOF with the last of them.
func (d *stream) read(limit int) ([]store.Info, error) {
	if d.buf == nil {
		d.buf = make([]byte, direntBuffer, direntBuffer+nameBuffer)
	}
	conn, err := d.dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	var entries []store.Info
	for {
		if len(d.rest) == 0 {
			n, err := d.fill(conn)
			if err != nil {
				return nil, err
			} else if n == 0 {
				return entries, io.EOF
			}
		}
		if entries, err = d.parse(entries, limit); err != nil || len(entries) == limit {
			return entries, err
		}
	}
}

// fill reads the next entries into the buffer; none at the end.
func (d *stream) fill(conn syscall.RawConn) (n int, err error) {
	ctlErr := conn.Control(func(fd uintptr) {
		for {
			n, err = unix.Getdents(int(fd), d.buf)
			if err != unix.EINTR {
				return
			}
		}
	})
	if ctlErr != nil {
		return 0, ctlErr
	} else if err == unix.ENOENT {
		n, err = 0, nil // the directory was removed while it was read
	} else if err != nil {
		return 0, &fs.PathError{Op: "getdents64", Path: d.prefix, Err: err}
	}
	d.rest = d.buf[:n]
	return n, nil
}

// parse appends entries of the buffer, up to limit in all. Their names share
// one string.
func (d *stream) parse(entries []store.Info, limit int) ([]store.Info, error) {
	first, arena := len(entries), d.buf[len(d.buf):]
	count := d.count(limit - first)
	entries = slices.Grow(entries, count)
	ends := make([]int, 0, count)
	for len(d.rest) > 0 && len(entries) < limit {
		if len(d.rest) < direntName {
			return nil, fmt.Errorf("directory entry of %d bytes: %w", len(d.rest), store.ErrTruncated)
		}
		length := int(binary.NativeEndian.Uint16(d.rest[direntLen:]))
		if length < direntName || length > len(d.rest) {
			return nil, fmt.Errorf("directory entry of %d bytes: %w", length, store.ErrTruncated)
		}
		kind, name := d.rest[direntType], d.rest[direntName:length]
		d.rest = d.rest[length:]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if string(name) == "." || string(name) == ".." {
			continue
		}
		arena = append(append(arena, d.prefix...), name...)
		ends = append(ends, len(arena))
		entries = append(entries, store.Info{Kind: direntKind(kind), Size: -1})
	}
	names, start := string(arena), 0
	for i, end := range ends {
		entries[first+i].Name = names[start:end]
		start = end
		if e := &entries[first+i]; e.Kind == unknown || d.detail && e.Kind == store.File {
			if err := d.ask(e); err != nil {
				return nil, err
			}
		}
	}
	return entries, nil
}

// count returns how many entries the buffer holds, up to limit.
func (d *stream) count(limit int) (n int) {
	for rest := d.rest; len(rest) >= direntName && n < limit; n++ {
		length := int(binary.NativeEndian.Uint16(rest[direntLen:]))
		if length < direntName || length > len(rest) {
			break
		}
		rest = rest[length:]
	}
	return n
}

// unknown is the kind of an entry whose directory doesn't record it.
const unknown store.EntryKind = 255

func direntKind(t byte) store.EntryKind {
	switch t {
	case unix.DT_REG:
		return store.File
	case unix.DT_DIR:
		return store.Dir
	case unix.DT_LNK:
		return store.Symlink
	case unix.DT_UNKNOWN:
		return unknown
	}
	return store.Other
}

// ask finds the kind of an entry by a stat, with detail also size and time.
// What has vanished is no candidate.
func (d *stream) ask(e *store.Info) error {
	var st unix.Stat_t
	err := unix.Fstatat(int(d.dir.Fd()), e.Name[len(d.prefix):], &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		e.Kind = store.Other
		return nil
	case err != nil:
		return &fs.PathError{Op: "fstatat", Path: e.Name, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind = store.File
		if d.detail {
			s := status{size: st.Size, modified: time.Unix(st.Mtim.Unix()).UTC(), inode: st.Ino}
			e.Size, e.Modified, e.ETag = s.size, s.modified, s.etag()
		}
	case unix.S_IFDIR:
		e.Kind = store.Dir
	case unix.S_IFLNK:
		e.Kind = store.Symlink
	default:
		e.Kind = store.Other
	}
	return nil
}
