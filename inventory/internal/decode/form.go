package decode

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/rowset"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
)

// Form is how the files of a list are laid out.
type Form struct {
	Kind string // "parquet", "csv", "jsonl", "paths"
	CSV  CSV
	rowset.Spelling

	Explicit map[string]string // what a column is → its name, as the user says
	Fields   map[int]string    // columns of an Iceberg table by their ids, whatever a file calls them
	OfStore  bool              // scheme is certain, whatever the columns' names look like

	// What the first file shows.
	Columns map[string]string // what each column in use is → its name
	Written *Own              // nil for what lakesweep didn't write
}

// Own is the head of a list that lakesweep wrote.
type Own struct {
	Kind  string // "plan", "list"
	root  string // of relative paths
	Taken time.Time
}

// NewForm reads what the user says of columns and names.
//
// Errors: Invalid for an unknown encoding.
func NewForm(explicit map[string]string) (Form, error) {
	f := Form{Explicit: explicit, Columns: map[string]string{}}
	f.Scheme, f.OfStore = "s3", explicit["scheme"] != ""
	if f.OfStore {
		f.Scheme = explicit["scheme"]
	}
	var err error
	if v := explicit["encoding"]; v != "" {
		f.Encoding, err = value.ParseEncoding(v)
	}
	return f, err
}

// ReadPart hands on the rows of a part; row groups of Parquet are read by at most
// workers goroutines at once.
func (f *Form) ReadPart(ctx context.Context, p *part.Part, workers int, r rowset.Run) (err error) {
	if f.Kind == "parquet" {
		file, err := openParquet(ctx, p)
		if err != nil {
			return err
		}
		return errors.Join(file.read(ctx, workers, f, r), file.close())
	}
	in, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	text, err := in.Text()
	if err != nil {
		return err
	}
	var rows io.Reader = text
	if workers > 1 {
		a := part.ReadAhead(ctx, text)
		defer a.Stop()
		rows = a
	}
	b := rowset.NewBatch(f.Spelling, r)
	if err := f.read(rows, r.Clock, b); err != nil {
		if b.Failed != nil || lake.HintOf(err) != "" || ctx.Err() != nil {
			return err
		}
		return p.Damaged(err)
	}
	r.Tally.Add(b.Counts)
	return in.Finish()
}

// read hands on the rows of a text in this form.
func (f *Form) read(in io.Reader, clock value.Times, b *rowset.Batch) error {
	switch f.Kind {
	case "csv":
		return readCSV(in, f.CSV, f.Explicit, clock, b)
	case "jsonl":
		return readJSONL(in, f.Explicit, clock, b)
	}
	return readLines(bufio.NewReaderSize(in, 64<<10), b)
}

// ORCHint says what to do about ORC.
const ORCHint = "No ORC reader is built in: set the inventory's format to Parquet (best) or CSV."
