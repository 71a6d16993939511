package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/store"
)

// held reads one file that has no name any more. The file is closed when
// nothing refers to it any longer.
type held struct {
	f    *os.File
	info store.Info
}

// holdFile opens a file, which may then be removed.
func holdFile(name string) (part.Part, error) {
	f, err := os.Open(name)
	if err != nil {
		return part.Part{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return part.Part{}, errors.Join(err, f.Close())
	}
	info := store.Info{Name: filepath.Base(name), Size: fi.Size(), Modified: fi.ModTime().UTC()}
	return part.Part{Reader: held{f, info}, Name: info.Name, Place: "the query's result", Size: info.Size, Modified: info.Modified}, nil
}

func (h held) Stat(context.Context, string) (store.Info, error) { return h.info, nil }

func (h held) Open(_ context.Context, _ string, offset, length int64) (io.ReadCloser, error) {
	if length < 0 {
		length = h.info.Size - offset
	}
	return io.NopCloser(io.NewSectionReader(h.f, offset, length)), nil
}

func (h held) List(context.Context, store.PageRequest) (store.Page, error) {
	return store.Page{}, fmt.Errorf("list a query's result: %w", store.ErrUnsupported)
}

func (h held) Status(context.Context) (store.Status, error) { return store.Status{}, nil }

func (h held) Traits() store.Traits { return store.Traits{Name: "query"} }
