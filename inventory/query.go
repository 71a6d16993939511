package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Engine runs SQL. inventory/duckdb has one.
type Engine interface {
	// Query runs one SELECT and writes its rows to out, as a Parquet file that
	// isn't there yet. Each view is a Parquet file that the query can name.
	Query(ctx context.Context, views map[string]string, query, out string) error
}

// openQuery opens the result of Options.SQL. If there is a Source too, the query
// may call it "inventory"; it has the columns of our own lists, with absolute paths.
func (s *Source) openQuery(ctx context.Context) (err error) {
	if s.o.Engine == nil {
		return &lake.Error{Op: "open inventory", Kind: lake.Unsupported, Err: errors.New("a query, and no engine to run it"), Hint: "Run the query elsewhere, write its rows as Parquet or CSV and name that file."}
	}
	dir, err := os.MkdirTemp("", "lakesweep-query-")
	if err != nil {
		return &lake.Error{Op: "open inventory", Kind: lake.Internal, Err: err, Hint: "See to free space in the temporary directory (TMPDIR)."}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	views := map[string]string{}
	if s.o.Source != "" {
		if views["inventory"], err = s.convertSource(ctx, dir); err != nil {
			return err
		}
	}
	out := filepath.Join(dir, "result.parquet")
	if err := s.o.Engine.Query(ctx, views, s.o.SQL, out); err != nil {
		return err
	}
	p, err := holdFile(out)
	if err != nil {
		return &lake.Error{Op: "open inventory", Kind: lake.Internal, Err: err, Hint: "See to free space in the temporary directory (TMPDIR)."}
	}
	s.parts, s.info.Kind, s.form.kind = []part{p}, "sql", "parquet"
	return s.probeParquet(ctx, &s.parts[0])
}

// convertSource writes the list that the query is about to a file in dir.
func (s *Source) convertSource(ctx context.Context, dir string) (name string, err error) {
	o := s.o
	o.SQL, o.Engine = "", nil
	src, err := Open(ctx, o)
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "inventory.parquet")
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	_, _, err = convert(ctx, src, "lakesweep", nil, true, f)
	s.info.Taken, s.info.TakenFrom, s.form.own = src.info.Taken, src.info.TakenFrom, true
	s.o.Columns = nil // they were the source's
	return name, errors.Join(err, f.Close())
}

// held reads one file that has no name any more. The file is closed when
// nothing refers to it any longer.
type held struct {
	f    *os.File
	info store.Info
}

// holdFile opens a file, which may then be removed.
func holdFile(name string) (part, error) {
	f, err := os.Open(name)
	if err != nil {
		return part{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return part{}, errors.Join(err, f.Close())
	}
	info := store.Info{Name: filepath.Base(name), Size: fi.Size(), Modified: fi.ModTime().UTC()}
	return part{r: held{f, info}, name: info.Name, place: "the query's result", size: info.Size, modified: info.Modified}, nil
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
