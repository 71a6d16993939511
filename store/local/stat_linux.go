package local

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lstat describes what stands at path by three system calls, however deep it
// lies: os.Root takes four for each component. Anything but a plain answer is
// left to os.Root.
func lstat(root *os.Root, base *os.File, path string) (status, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(int(base.Fd()), path, &how)
	if err == unix.ENOENT {
		return status{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	if err != nil {
		return rootLstat(root, path)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return status{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	out := status{size: st.Size, modified: time.Unix(st.Mtim.Unix()).UTC(), inode: st.Ino}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		out.mode = fs.ModeDir
	case unix.S_IFLNK:
		out.mode = fs.ModeSymlink
	default:
		out.mode = fs.ModeIrregular
	}
	return out, nil
}
