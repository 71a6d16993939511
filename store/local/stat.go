package local

import (
	"io/fs"
	"os"
	"strconv"
	"time"
)

// status is what Stat takes from the system.
type status struct {
	mode     fs.FileMode // type bits only
	size     int64
	modified time.Time // UTC
	inode    uint64
}

func statusOf(fi fs.FileInfo) status {
	return status{mode: fi.Mode().Type(), size: fi.Size(), modified: fi.ModTime().UTC(), inode: inode(fi)}
}

func rootLstat(root *os.Root, path string) (status, error) {
	fi, err := root.Lstat(path)
	if err != nil {
		return status{}, err
	}
	return statusOf(fi), nil
}

// etag changes whenever a file is replaced or written to.
func (s status) etag() string {
	b := strconv.AppendInt(make([]byte, 0, 48), s.modified.UnixNano(), 16)
	b = strconv.AppendInt(append(b, '-'), s.size, 16)
	return string(strconv.AppendUint(append(b, '-'), s.inode, 16))
}
