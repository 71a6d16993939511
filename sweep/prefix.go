package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
)

// BenchList lists all of a prefix, keeps nothing, and tells what that took.
//
// Errors: those of the store and of the listing.
func (e *Engine) BenchList(ctx context.Context, req ListRequest) (Listed, error) {
	return e.walk(ctx, req, false, func([]store.Info) error { return nil })
}

// MakeInventory lists all files of a prefix into one Parquet list at out, a
// local file, that serves as an inventory of all tables there.
//
// Shape: nothing is held; rows are in no order. On disks each file is stat'ed.
// Errors: those of the store and of the listing; Invalid if out can't be written.
func (e *Engine) MakeInventory(ctx context.Context, req ListRequest, out string) (Listed, error) {
	place, err := e.resolvePlace(req.Place)
	if err != nil {
		return Listed{}, err
	}
	w, err := newListFile(out)
	if err != nil {
		return Listed{}, err
	}
	taken := e.Now().UTC()
	l, err := e.walk(ctx, req, true, func(batch []store.Info) error {
		return w.append(len(batch), func(i int) (lake.Verdict, bool) {
			o := batch[i]
			return lake.Verdict{Key: lake.Listed(o.Name), Size: o.Size, Modified: o.Modified, ETag: o.ETag}, o.Kind == store.File
		})
	})
	l.Out = out
	return l, w.close(err, filelist.ListHead{Schema: 1, Tool: e.Tool, Root: place.String(), Source: place.String(), Taken: taken, Created: e.Now().UTC()})
}

// ConvertInventory reads a list of any kind and writes it as MakeInventory
// does. Names that the list gives with their place become URIs; others stay
// relative, to whatever table they are used for.
//
// Errors: those of package inventory; Invalid if out can't be written.
func (e *Engine) ConvertInventory(ctx context.Context, req InventoryRequest, out string) (Listed, error) {
	began := e.Now()
	src, err := inventory.Open(ctx, inventory.Options{Source: req.Source, Columns: req.Columns, Taken: req.Taken, Stores: e.Stores, Now: e.Now, Observer: e.Observe})
	if err != nil {
		return Listed{}, err
	}
	w, err := newListFile(out)
	if err != nil {
		return Listed{}, err
	}
	counts, err := src.Rows(ctx, func(rows []inventory.Row) error {
		return w.append(len(rows), func(i int) (lake.Verdict, bool) {
			r := rows[i]
			v := lake.Verdict{Size: r.Size, Modified: r.Modified, ETag: r.ETag}
			switch {
			case r.Place != "":
				v.URI = strings.TrimSuffix(r.Place, "/") + "/" + r.Name
			case strings.Contains(r.Name, "://") || strings.HasPrefix(r.Name, "/"):
				v.URI = r.Name
			default:
				v.Key = lake.Listed(r.Name)
			}
			return v, r.Kind == store.File
		})
	})
	l := Listed{Place: req.Source, Out: out, Objects: w.n, Bytes: w.bytes, Seconds: e.Now().Sub(began).Seconds()}
	return l, w.close(err, filelist.ListHead{Schema: 1, Tool: e.Tool, Source: req.Source, Taken: src.Info().Taken, Created: e.Now().UTC(),
		Skipped: counts.Skipped() + counts.Directories})
}

// resolvePlace is resolve for any folder, roots of buckets included.
func (e *Engine) resolvePlace(name string) (lake.Root, error) {
	if !strings.Contains(name, ":") && name != "" && !filepath.IsAbs(name) {
		return e.resolve(name)
	}
	return lake.ParsePlace(name)
}

// walk lists a prefix. With times, what a listing of names left out is stat'ed.
func (e *Engine) walk(ctx context.Context, req ListRequest, times bool, emit func([]store.Info) error) (Listed, error) {
	place, err := e.resolvePlace(req.Place)
	if err != nil {
		return Listed{}, err
	}
	r, err := e.Stores.OpenReader(ctx, place)
	if err != nil {
		return Listed{}, err
	}
	began := e.Now()
	var mu sync.Mutex
	l := Listed{Place: place.String()}
	stats, err := listing.Walk(ctx, r, listing.Options{Workers: req.Tuning.Workers, Observer: e.Observe}, func(batch []store.Info) error {
		if times && r.Traits().NamesFirst {
			described, err := describe(ctx, r, batch)
			if err != nil {
				return err
			}
			batch = described
		}
		mu.Lock()
		for i := range batch {
			if batch[i].Kind == store.File {
				l.Objects++
				l.Bytes += max(batch[i].Size, 0)
			}
		}
		mu.Unlock()
		return emit(batch)
	})
	l.Pages, l.Splits, l.Wasted, l.Throttled = stats.Requests, stats.Splits, stats.Wasted, stats.Throttled
	l.Seconds = e.Now().Sub(began).Seconds()
	if req.Tuning.ListRate > 0 {
		l.Floor = float64(stats.Requests) / req.Tuning.ListRate
	}
	return l, err
}

// describe stats the files of a batch; those that are gone by now are left out.
func describe(ctx context.Context, r store.Reader, batch []store.Info) ([]store.Info, error) {
	out := make([]store.Info, 0, len(batch))
	for _, o := range batch {
		if o.Kind != store.File {
			continue
		}
		info, err := r.Stat(ctx, o.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info.Name = o.Name
		out = append(out, info)
	}
	return out, nil
}

// listFile is a list that is being written: beside its place first, moved there
// when it is whole. Safe for concurrent use until close.
type listFile struct {
	path  string
	file  *os.File
	mu    sync.Mutex
	w     *filelist.Writer
	n     int64
	bytes int64
}

func newListFile(out string) (*listFile, error) {
	f, err := os.CreateTemp(filepath.Dir(out), ".lakesweep-list-*")
	if err != nil {
		return nil, listFileError(out, err)
	}
	return &listFile{path: out, file: f, w: filelist.NewWriter(f, filelist.Options{})}, nil
}

func listFileError(out string, err error) error {
	return &lake.Error{Op: "write inventory", Table: out, Kind: lake.Invalid, Err: err, Hint: "Name a file in a folder that can be written to with --out."}
}

// append adds those of n rows that are wanted.
func (l *listFile) append(n int, row func(int) (v lake.Verdict, wanted bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range n {
		v, wanted := row(i)
		if !wanted {
			continue
		}
		if err := l.w.Append(v); err != nil {
			return err
		}
		l.n++
		l.bytes += max(v.Size, 0)
	}
	return nil
}

// close finishes the list, or after err removes it. It returns err or what
// goes wrong now.
func (l *listFile) close(err error, head filelist.ListHead) error {
	text, jsonErr := json.Marshal(head)
	if err == nil {
		err = jsonErr
	}
	if err == nil {
		_, err = l.w.Close(map[string]string{filelist.ListKey: string(text)})
	}
	if err == nil {
		err = l.file.Sync()
	}
	if closeErr := l.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		if err = os.Rename(l.file.Name(), l.path); err == nil {
			return nil
		}
	}
	if rmErr := os.Remove(l.file.Name()); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	if _, ok := errors.AsType[*lake.Error](err); ok {
		return err
	}
	return listFileError(l.path, err)
}
