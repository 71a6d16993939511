//go:build unix && !linux

package local

import (
	"os"
	"runtime"

	"github.com/lakesweep/lakesweep/store"
)

// macOS folds case unless a volume says otherwise.
const foldsByDefault = runtime.GOOS == "darwin" || runtime.GOOS == "ios"

// renameNew has no safe way on this system.
func renameNew(*os.Root, string, string) error { return store.ErrUnsupported }

func remote(string) bool { return false }
