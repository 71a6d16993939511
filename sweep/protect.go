package sweep

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// protectedElsewhere reads what --protect names: tables whose logs name files
// of this one (shallow clones), and local files with a path a line.
func (e *Engine) protectedElsewhere(ctx context.Context, p *place, names []string) (keep []lake.Key, err error) {
	for _, name := range names {
		var add []lake.Key
		if info, statErr := os.Stat(name); statErr == nil && info.Mode().IsRegular() {
			add, err = p.protectList(name)
		} else {
			add, err = e.protectTable(ctx, p, name)
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
func (p *place) protectList(file string) (keep []lake.Key, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "/") {
			return nil, invalid(p.given, fmt.Sprintf("--protect %s names a folder, %q", file, lines.Text()), "Name each file that is to be kept, one a line.")
		}
		keep = append(append(keep, p.root.Named(lines.Text(), p.aliases...)...), p.names.inside(lines.Text())...)
	}
	return keep, lines.Err()
}

// protectTable keeps whatever another table's log still names in this one, in
// any version.
func (e *Engine) protectTable(ctx context.Context, p *place, name string) (keep []lake.Key, err error) {
	other, err := e.open(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := e.deltaTable(ctx, other, Tuning{}, false)
	if err != nil {
		return nil, err
	}
	for uri, err := range t.OutsidePaths(ctx) {
		if err != nil {
			return nil, err
		}
		paths, err := p.root.LogPath(uri, p.aliases...)
		if err != nil {
			return nil, err
		}
		if paths.Outside {
			keep = append(append(keep, p.names.inside(uri)...), paths.Protect...)
		} else {
			keep = append(append(keep, paths.Key), paths.Protect...)
		}
	}
	return keep, nil
}
