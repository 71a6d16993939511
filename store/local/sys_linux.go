package local

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const foldsByDefault = false

// renameNew renames temp to base unless something stands there.
func renameNew(dir *os.Root, temp, base string) error {
	return withFD(dir, func(fd int) error {
		if err := unix.Renameat2(fd, temp, fd, base, unix.RENAME_NOREPLACE); err != nil {
			return &fs.PathError{Op: "renameat2", Path: base, Err: err}
		}
		return nil
	})
}

// Magic numbers of statfs(2) that x/sys/unix lacks.
const (
	cifsMagic = 0xFF534D42
	smb2Magic = 0xFE534D42
)

// remote reports whether path lies on a network file system.
func remote(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, cifsMagic, smb2Magic, unix.CEPH_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC:
		return true
	}
	return false
}
