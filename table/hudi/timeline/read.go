package timeline

import (
	"context"
	"fmt"
	"io"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// maxFile bounds a timeline file in memory. Commit metadata of a million files
// takes some 500 MB.
const maxFile = 2 << 30

func readFile(ctx context.Context, r store.Reader, name string) (data []byte, err error) {
	rc, err := r.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := rc.Close(); err == nil {
			err = cerr
		}
	}()
	data, err = io.ReadAll(io.LimitReader(rc, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &lake.Error{Op: "read timeline", Key: lake.Key(name), Kind: lake.Unsupported, Err: fmt.Errorf("more than %d bytes", maxFile)}
	}
	return data, err
}

// list returns the entries of the folder dir itself.
func list(ctx context.Context, r store.Reader, dir string) ([]store.Info, error) {
	var out []store.Info
	for e, err := range store.Folder(ctx, r, dir+"/") {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
