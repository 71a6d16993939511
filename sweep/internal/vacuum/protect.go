package vacuum

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// protectedElsewhere reads what --protect names: tables whose logs name files
// of this one (shallow clones), and local files with a path a line.
func (h *Host) protectedElsewhere(ctx context.Context, p *place.Place, names []string) (keep []lake.Key, err error) {
	for _, name := range names {
		var add []lake.Key
		if info, statErr := os.Stat(name); statErr == nil && info.Mode().IsRegular() {
			add, err = protectList(p, name)
		} else {
			add, err = h.protectTable(ctx, p, name)
		}
		if err != nil {
			return nil, err
		}
		keep = append(keep, add...)
	}
	return keep, nil
}

// protectList reads paths, relative to the root or absolute, as they are or
// percent-encoded.
func protectList(p *place.Place, file string) (keep []lake.Key, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "/") {
			return nil, p.Invalid(fmt.Sprintf("--protect %s names a folder, %q", file, lines.Text()), "Name each file that is to be kept, one a line.")
		}
		keep = append(append(keep, p.Root.Named(lines.Text(), p.Aliases...)...), p.Names.Inside(lines.Text())...)
	}
	return keep, lines.Err()
}

// protectTable keeps whatever another table's log still names in this one, in
// any version.
func (h *Host) protectTable(ctx context.Context, p *place.Place, name string) (keep []lake.Key, err error) {
	other, err := h.Places.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := other.Delta(ctx, 0, false, h.Observe)
	if err != nil {
		return nil, err
	}
	for uri, err := range t.OutsidePaths(ctx) {
		if err != nil {
			return nil, err
		}
		paths, err := p.Root.LogPath(uri, p.Aliases...)
		if err != nil {
			return nil, err
		}
		if paths.Outside {
			keep = append(append(keep, p.Names.Inside(uri)...), paths.Protect...)
		} else {
			keep = append(append(keep, paths.Key), paths.Protect...)
		}
	}
	return keep, nil
}
