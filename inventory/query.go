package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
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
	s.form.Explicit = s.o.Columns
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
	s.parts, s.info.Kind = []part.Part{p}, "sql"
	s.form.Kind, s.form.OfStore = "parquet", true
	if err := s.form.Probe(ctx, &s.parts[0]); err != nil {
		return err
	}
	s.takeHead()
	return nil
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
	s.info.Taken, s.info.TakenFrom, s.form.Own = src.info.Taken, src.info.TakenFrom, true
	s.form.Explicit = nil // they were the source's
	return name, errors.Join(err, f.Close())
}
