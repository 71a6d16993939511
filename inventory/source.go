package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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
	form  form
	parts []part
}

// form is how the files of a list are laid out.
type form struct {
	kind string // "parquet", "csv", "jsonl", "paths"
	csv  csvForm
	spelling

	fields map[int]string // columns of an Iceberg table by their ids, whatever a file calls them
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
	s := &Source{o: o, info: Info{Source: o.Source, Rows: -1, Columns: map[string]string{}}}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.info.Files, s.info.Bytes = len(s.parts), 0
	for _, p := range s.parts {
		if p.size < 0 || s.info.Bytes < 0 {
			s.info.Bytes = -1
		} else {
			s.info.Bytes += p.size
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
	if !isAbsolute(spelled) && !filepath.IsAbs(spelled) {
		absolute, err := filepath.Abs(spelled)
		if err != nil {
			return invalid(s.o.Source, err, "Write an absolute path.")
		}
		spelled = absolute
	}
	place, err := lake.ParsePlace(spelled)
	if err != nil {
		return err
	}
	if err := s.spelled(); err != nil {
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

// spelled reads the options about names.
func (s *Source) spelled() error {
	s.form.scheme = "s3"
	if v := s.o.Columns["scheme"]; v != "" {
		s.form.scheme = v
	}
	if v := s.o.Columns["encoding"]; v != "" {
		e, err := parseEncoding(v)
		if err != nil {
			return err
		}
		s.form.encoding = e
	}
	return nil
}

// file looks for a file at place.
func (s *Source) file(ctx context.Context, place lake.Root) (part, bool, error) {
	parent, ok := place.Parent()
	if !ok {
		return part{}, false, nil
	}
	r, err := s.o.Stores.OpenReader(ctx, parent)
	if isMissing(err) {
		return part{}, false, nil
	}
	if err != nil {
		return part{}, false, err
	}
	name := lake.Key(place.Path).Base()
	info, err := r.Stat(ctx, name)
	switch {
	case isMissing(err):
		return part{}, false, nil
	case err != nil:
		return part{}, false, err
	case info.Kind == store.Symlink:
		return part{}, false, invalid(s.o.Source, errors.New("a symbolic link"), "Name the file that it points to.")
	case info.Kind == store.Other:
		return part{}, false, invalid(s.o.Source, errors.New("neither a file nor a folder"), "A list is read more than once: write it to a file, and name that.")
	case info.Kind != store.File:
		return part{}, false, nil
	}
	return part{r: r, name: name, place: place.String(), size: info.Size, modified: info.Modified}, true, nil
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
		if !p.modified.IsZero() && (s.info.Taken.IsZero() || p.modified.Before(s.info.Taken)) {
			s.info.Taken, s.info.TakenFrom = p.modified.UTC(), "modified"
		}
	}
}

// Info describes the list.
func (s *Source) Info() Info {
	out := s.info
	out.Columns = maps.Clone(s.info.Columns)
	return out
}

// Rows hands on all rows of the list, in no order. emit is called by several
// goroutines at once; a batch is lent for the call, its strings may be kept.
// What was handed on counts only if Rows returns no error.
//
// Shape: up to 1e10 rows; memory for at most 3 MiB a worker and column in use,
// and of a journal 32 MiB more.
// Errors: Damaged for a file that is missing, cut or not the manifest's;
// Invalid for a file without the columns; emit's first error.
func (s *Source) Rows(ctx context.Context, emit func([]Row) error) (Counts, error) {
	return s.rows(ctx, nil, emit)
}

// rows is Rows; of a journal only the rows that needed reports matter, nil needs all.
func (s *Source) rows(ctx context.Context, needed func([]Row, []bool), emit func([]Row) error) (_ Counts, err error) {
	var mu sync.Mutex
	var total Counts
	count := func(c Counts) {
		mu.Lock()
		defer mu.Unlock()
		total.add(c)
	}
	expected := max(s.info.Rows, 0)
	var done atomic.Int64
	observe := func(rows []Row) {
		s.o.Observer.Emit(lake.Event{Stage: "inventory", Done: done.Add(int64(len(rows))), Expected: expected})
	}
	r := run{clock: times{now: s.o.Now().UTC()}, count: count, emit: func(rows []Row) error {
		observe(rows)
		return emit(rows)
	}}
	if s.form.journal {
		r.replay = newReplay(needed, observe, emit)
		defer func() { err = errors.Join(err, r.replay.close()) }()
	}
	if err := s.readParts(ctx, r); err != nil {
		return total, err
	}
	if err := s.checkEncoding(total.signs); err != nil {
		return total, err
	}
	if total.Rows < s.info.Rows {
		return total, &lake.Error{Op: "read inventory", Table: s.o.Source, Kind: lake.Damaged,
			Err: fmt.Errorf("%d rows, but the manifest counts %d", total.Rows, s.info.Rows), Hint: "Fetch the inventory again, or take an older one; nothing was deleted."}
	}
	if r.replay != nil {
		deleted, err := r.replay.finish()
		if total.Deleted += deleted; err != nil {
			return total, err
		}
	}
	s.o.Observer.Emit(lake.Event{Stage: "inventory", Done: done.Load(), Expected: expected, Finished: true})
	return total, nil
}

// run is one reading of a list.
type run struct {
	clock  times
	emit   func([]Row) error
	replay *replay // of a journal; nil otherwise
	count  func(Counts)
}

func (s *Source) readParts(ctx context.Context, r run) error {
	files := min(s.o.Workers, max(len(s.parts), 1))
	within := (s.o.Workers + files - 1) / files
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(files)
	for i := range s.parts {
		g.Go(func() error { return s.readPart(ctx, &s.parts[i], within, r) })
	}
	return g.Wait()
}

func (s *Source) readPart(ctx context.Context, p *part, workers int, r run) (err error) {
	if s.form.kind == "parquet" {
		f, err := openParquet(ctx, p)
		if err != nil {
			return err
		}
		return errors.Join(f.read(ctx, workers, s.o.Columns, s.form, r), f.close())
	}
	in, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	text, err := in.text()
	if err != nil {
		return err
	}
	var rows io.Reader = text
	if workers > 1 {
		readCtx, cancel := context.WithCancel(ctx)
		a := readAhead(readCtx, text)
		defer func() { cancel(); <-a.done }()
		rows = a
	}
	b := newBatch(s.form.spelling, r)
	if err := s.form.read(rows, s.o.Columns, r.clock, b); err != nil {
		if b.failed != nil || lake.HintOf(err) != "" || ctx.Err() != nil {
			return err
		}
		return p.damaged(err)
	}
	r.count(b.counts)
	return in.finish()
}
