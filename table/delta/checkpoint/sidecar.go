package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/table/delta/logdir"
	"github.com/lakesweep/lakesweep/table/delta/logfault"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// sidecarName returns the file's name below _sidecars. A path with folders is
// cut to its last part: sidecars lie nowhere else.
func sidecarName(raw []byte) (string, error) {
	var s struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("sidecar: %w", err)
	}
	return lastName(s.Path)
}

func lastName(path string) (string, error) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" || name == ".." {
		return "", fmt.Errorf("a sidecar with the path %q", path)
	}
	return name, nil
}

// openSidecar opens a sidecar by its name as it stands, or else decoded: the
// protocol wants it encoded, Spark takes it as it is.
func (r *Reader) openSidecar(ctx context.Context, name string) (*parquetFile, error) {
	full := meta.LogDir + "/_sidecars/" + name
	info, err := r.dir.Store.Stat(ctx, full)
	if decoded, bad := url.PathUnescape(name); errors.Is(err, fs.ErrNotExist) && bad == nil && decoded != name && !strings.Contains(decoded, "/") {
		full = meta.LogDir + "/_sidecars/" + decoded
		info, err = r.dir.Store.Stat(ctx, full)
	}
	if err != nil {
		return nil, logfault.AsCorrupt(logfault.ReadError(full, err))
	}
	return r.openParquet(ctx, logdir.File{Name: full, Size: info.Size}, true)
}

// sidecarColumn reads the names of a V2 checkpoint's sidecars.
func (r *Reader) sidecarColumn(ctx context.Context, p *parquetFile) (names []string, err error) {
	for i := range p.f.RowGroups() {
		g := &rowGroup{dir: r.dir, ctx: ctx, file: p, index: i}
		path := g.column("sidecar", "path")
		if path.Leaf == nil {
			return nil, nil
		}
		err := g.run(func() error {
			for row := range g.rows() {
				ok, err := path.At(row)
				if err != nil || !ok {
					if err != nil {
						return err
					}
					continue
				}
				s, err := path.Text()
				if err == nil {
					s, err = lastName(s)
				}
				if err != nil {
					return err
				}
				names = append(names, s)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
