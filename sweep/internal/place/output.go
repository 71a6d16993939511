package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/lake"
)

// Outside refuses a place for something that we write (a plan, a
// journal, an inventory, a quarantine) in a table, whichever: it could go over
// a file that somebody needs, and would be garbage to the table's next vacuum.
// what names the flag.
//
// Errors: Invalid; those of the store.
func (f Finder) Outside(ctx context.Context, what, place string) error {
	root, err := f.Root(place)
	if err != nil {
		return err
	}
	places := []lake.Root{root}
	if root.Class() == "file" {
		real, err := lake.ParseRoot(filepath.ToSlash(realPath(root.String())))
		if err != nil {
			return err
		}
		places = append(places, real)
	}
	for _, at := range places {
		inside, err := f.Enclosing(ctx, at)
		if err != nil {
			return err
		}
		if inside == "" {
			continue
		}
		return &lake.Error{Op: "open " + place, Kind: lake.Invalid, Err: fmt.Errorf("%s names a place inside the table %s", what, inside),
			Hint: "Name a place outside every table: inside it could go over a file that is needed, and would be garbage to the table's next run."}
	}
	return nil
}

// realPath follows the symlinks on the way to a path, as far as there is one;
// one that leads to nothing yet is followed too, for it is there that a file
// would be made.
func realPath(path string) string { return realPathIn(path, 40) }

func realPathIn(path string, links int) string {
	real, err := filepath.EvalSymlinks(path)
	switch dir := filepath.Dir(path); {
	case err == nil:
		return real
	case !errors.Is(err, fs.ErrNotExist) || dir == path || links == 0:
		return path
	default:
		at := filepath.Join(realPathIn(dir, links-1), filepath.Base(path))
		target, err := os.Readlink(at)
		if err != nil {
			return at // no link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		return realPathIn(target, links-1)
	}
}
