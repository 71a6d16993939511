//go:build !linux

package local

import "os"

// lstat describes what stands at path.
func lstat(root *os.Root, _ *os.File, path string) (status, error) { return rootLstat(root, path) }
