package timeline

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/store"
)

// Markers lie beside the timeline, below .hoodie/.temp/<instant>/.
const (
	markersDir   = ".hoodie/.temp/"
	marker       = ".marker."
	markersFile  = "MARKERS" // followed by a number, or by ".type"
	markersTyped = markersFile + ".type"
)

// Marked returns the base and log files that the markers of a write name, as
// paths below the table's root, sorted, each once: all that the write wrote or
// is about to write, those of tasks that were tried again among them. A write
// without markers, as one that is complete, has none.
//
// Errors: those of the store.
// Source: Hudi 1.2.0, DirectWriteMarkers (an object "<file>.marker.<type>" for each file) and
// TimelineServerBasedWriteMarkers (such names, one a line, in MARKERS0, MARKERS1 …).
func Marked(ctx context.Context, r store.Reader, instant string) ([]string, error) {
	var files []string
	root := markersDir + instant
	add := func(name string) {
		if at := strings.LastIndex(name, marker); at > 0 && !strings.HasSuffix(name, ".crc") {
			files = append(files, name[:at])
		}
	}
	for dirs := []string{root}; len(dirs) > 0; {
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		entries, err := list(ctx, r, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := strings.TrimPrefix(e.Name, root+"/")
			switch {
			case e.Kind == store.Dir:
				dirs = append(dirs, strings.TrimSuffix(e.Name, "/"))
			case dir == root && name != markersTyped && strings.HasPrefix(name, markersFile):
				data, err := readFile(ctx, r, e.Name)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				for line := range strings.Lines(string(data)) {
					add(strings.TrimSpace(line))
				}
			default:
				add(name)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
