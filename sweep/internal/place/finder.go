package place

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Finder opens places that are named as on a command line. Safe for
// concurrent use.
type Finder struct {
	Stores store.Opener
	Now    func() time.Time // our clock
	Getwd  func() (string, error)
}

// Root turns a table argument into a root. Relative local paths are taken from
// the working directory.
//
// Errors: Invalid.
func (f Finder) Root(table string) (lake.Root, error) {
	name, err := f.absolute(table)
	if err != nil {
		return lake.Root{}, err
	}
	return lake.ParseRoot(name)
}

// Folder is Root for any folder, roots of buckets included.
func (f Finder) Folder(place string) (lake.Root, error) {
	name, err := f.absolute(place)
	if err != nil {
		return lake.Root{}, err
	}
	return lake.ParsePlace(name)
}

// absolute takes a relative local path from the working directory. A colon makes
// a URI only before the first slash; behind one it belongs to a name.
func (f Finder) absolute(name string) (string, error) {
	first := strings.IndexAny(name, "/:")
	if name == "" || first >= 0 && name[first] == ':' || filepath.IsAbs(name) {
		return name, nil
	}
	dir, err := f.Getwd()
	return filepath.Join(dir, name), err
}
