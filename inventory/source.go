package inventory

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/catalog"
	"github.com/lakesweep/lakesweep/inventory/internal/decode"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/resolve"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// Options says what list to read and how. Source and Stores must be set.
type Options struct {
	Source string // a path or URI of a file, a folder or a table
	// Columns maps what a column is ("path", "size", "modified", "created", "directory", "bucket", "etag", …)
	// to its name, or its number from 1 where there is no header. "encoding" is raw, percent or form; "scheme" is that of a bucket column.
	Columns map[string]string
	Taken   time.Time // when the scan began, if the list doesn't say; zero: when the list was written
	Stores  store.Opener
	SQL     string // a query whose rows are the list; it may call Source "inventory"
	Engine  Engine // runs SQL; nil refuses it

	Now      func() time.Time // nil: time.Now
	Workers  int              // goroutines that read; 0: one a core
	Observer lake.Observer    // hears of the rows read, in the stage "inventory"
}

// Info describes an opened list.
type Info struct {
	Source    string
	Kind      string            // "parquet", "csv", "jsonl", "paths", "plan", "list", "delta", "iceberg", "s3-inventory", "gcs-insights", "azure-inventory", "sql"
	Taken     time.Time         // UTC: when the scan began, as well as it is known
	TakenFrom string            // "manifest", "list" (its own head), "option", "modified" (the list's own time, the earliest of its files)
	Files     int               // that hold the rows
	Bytes     int64             // of those files; -1 if unknown
	Rows      int64             // as the list says itself; -1 if it doesn't
	Columns   map[string]string // what each column in use is → its name
	Encoding  Encoding          // of names
	Partial   bool              // the list means to name some objects only, no live ones: a plan
	Notes     []string          // what a user should know
}

// Source is an opened list. Safe for concurrent use.
type Source struct {
	o     Options
	info  Info
	form  decode.Form
	parts []part.Part
}

// Open looks at a list and finds its files, its form and its age. Nothing but
// heads, manifests and footers is read.
//
// Errors: Invalid for a list that isn't there or columns that it hasn't;
// Damaged for a manifest that doesn't fit its files; Unsupported for a form
// that lakesweep can't read; those of the store.
func Open(ctx context.Context, o Options) (*Source, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Source{o: o, info: Info{Source: o.Source, Rows: -1}}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.info.Columns, s.info.Files, s.info.Bytes = s.form.Columns, len(s.parts), 0
	for _, p := range s.parts {
		if p.Size < 0 || s.info.Bytes < 0 {
			s.info.Bytes = -1
		} else {
			s.info.Bytes += p.Size
		}
	}
	s.age()
	return s, nil
}

func (s *Source) open(ctx context.Context) error {
	if s.o.SQL != "" {
		return s.openQuery(ctx)
	}
	spelled := s.o.Source
	if !resolve.IsAbsolute(spelled) && !filepath.IsAbs(spelled) {
		absolute, err := filepath.Abs(spelled)
		if err != nil {
			return catalog.Invalid(s.o.Source, err, "Write an absolute path.")
		}
		spelled = absolute
	}
	place, err := lake.ParsePlace(spelled)
	if err != nil {
		return err
	}
	if s.form, err = decode.NewForm(s.o.Columns); err != nil {
		return err
	}
	p, found, err := s.file(ctx, place)
	if err != nil {
		return err
	}
	if found && !strings.HasSuffix(spelled, "/") {
		return s.openFile(ctx, place, p)
	}
	return s.openFolder(ctx, place)
}

// file looks for a file at place.
func (s *Source) file(ctx context.Context, place lake.Root) (part.Part, bool, error) {
	parent, ok := place.Parent()
	if !ok {
		return part.Part{}, false, nil
	}
	r, err := s.o.Stores.OpenReader(ctx, parent)
	if part.Missing(err) {
		return part.Part{}, false, nil
	}
	if err != nil {
		return part.Part{}, false, err
	}
	name := lake.Key(place.Path).Base()
	info, err := r.Stat(ctx, name)
	switch {
	case part.Missing(err):
		return part.Part{}, false, nil
	case err != nil:
		return part.Part{}, false, err
	case info.Kind == store.Symlink:
		return part.Part{}, false, catalog.Invalid(s.o.Source, errors.New("a symbolic link"), "Name the file that it points to.")
	case info.Kind == store.Other:
		return part.Part{}, false, catalog.Invalid(s.o.Source, errors.New("neither a file nor a folder"), "A list is read more than once: write it to a file, and name that.")
	case info.Kind != store.File:
		return part.Part{}, false, nil
	}
	return part.Part{Reader: r, Name: name, Place: place.String(), Size: info.Size, Modified: info.Modified}, true, nil
}

// age settles when the scan began.
func (s *Source) age() {
	if !s.o.Taken.IsZero() {
		s.info.Taken, s.info.TakenFrom = s.o.Taken.UTC(), "option"
		return
	}
	if !s.info.Taken.IsZero() {
		s.info.Taken = s.info.Taken.UTC()
		return
	}
	for _, p := range s.parts {
		if !p.Modified.IsZero() && (s.info.Taken.IsZero() || p.Modified.Before(s.info.Taken)) {
			s.info.Taken, s.info.TakenFrom = p.Modified.UTC(), "modified"
		}
	}
}

// Info describes the list.
func (s *Source) Info() Info {
	out := s.info
	out.Columns = maps.Clone(s.info.Columns)
	return out
}
