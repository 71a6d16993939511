package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/inventory/internal/columns"
	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/inventory/internal/value"
	"github.com/lakesweep/lakesweep/lake"
)

// Sniff settles the form of a list of plain files by the first of them, and
// checks that it has the columns.
func (f *Form) Sniff(ctx context.Context, p *part.Part) error {
	head, packed, err := p.Head(ctx)
	if err != nil {
		return err
	}
	suffix := part.Extension(p.Name)
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0:
		f.Kind = "paths" // an empty list
		return nil
	case bytes.HasPrefix(head, []byte("PAR1")) && !packed:
		f.Kind = "parquet"
		return f.probeParquet(ctx, p)
	case bytes.HasPrefix(head, []byte("PAR1")):
		return p.Failed(lake.Unsupported, errors.New("a Parquet file inside another compression"), "Unpack it first.")
	case bytes.HasPrefix(head, []byte("ORC")):
		return p.Failed(lake.Unsupported, errors.New("an ORC file"), ORCHint)
	case bytes.HasPrefix(head, []byte("Obj\x01")):
		return p.Failed(lake.Unsupported, errors.New("an Avro file"), "Write the list as Parquet or CSV.")
	case bytes.HasPrefix(text, []byte("{")):
		f.Kind = "jsonl"
		return f.probeJSONL(p, text)
	case bytes.HasPrefix(text, []byte("[")) && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")):
		return p.Failed(lake.Unsupported, errors.New("a JSON array"), "Write one object a line, for instance with jq -c '.[]'.")
	}
	f.CSV.Comma = ','
	if suffix == ".tsv" {
		f.CSV.Comma = '\t'
	}
	first := header(head, f.CSV.Comma)
	isCSV := suffix == ".csv" || suffix == ".tsv"
	switch {
	case columns.LooksLikeHeader(first) && (isCSV || len(first) > 1), isCSV && named(f.Explicit, first):
		f.Kind, f.CSV.Header = "csv", true
	case isCSV || f.Explicit["path"] != "":
		f.Kind = "csv"
		if len(f.Explicit) == 0 {
			first = nil
		} else {
			first = numbered(len(first))
		}
	default:
		f.Kind = "paths"
		return nil
	}
	if first == nil {
		return columns.Invalid(fmt.Errorf("%s has no header that names a column of paths", p.Place),
			"Say which column is which: --inventory-columns path=2,size=6,modified=7 (numbers from 1) or path=NAME.")
	}
	cols, err := columns.Assign(first, f.Explicit)
	if err != nil {
		return err
	}
	f.settle(cols, first)
	return nil
}

// settle takes over the columns of the first file. Where nobody says in which
// store the buckets are, the columns' names do: GCS calls a key a name, Azure a
// bucket a container.
func (f *Form) settle(cols columns.Columns, names []string) {
	f.Latest, f.Journal, f.Versions = cols.Has(columns.Latest), cols.Journal(), cols.Has(columns.Version)
	f.Columns = cols.Used(names)
	if f.OfStore || !cols.Has(columns.Bucket) {
		return
	}
	switch {
	case strings.EqualFold(names[cols[columns.Bucket]], "container"):
		f.Scheme = "az"
	case strings.EqualFold(names[cols[columns.Path]], "name"):
		f.Scheme = "gs"
	}
}

// named reports whether explicit names a column by its name in fields.
func named(explicit map[string]string, fields []string) bool {
	for word, name := range explicit {
		if word == "encoding" || word == "scheme" {
			continue
		}
		if value.Size([]byte(name)) >= 0 {
			continue // a number
		}
		for _, f := range fields {
			if strings.EqualFold(strings.TrimSpace(f), name) {
				return true
			}
		}
	}
	return false
}

// Probe settles the columns of a list of a known form by the first of its files.
func (f *Form) Probe(ctx context.Context, p *part.Part) error {
	names := f.CSV.Names
	switch {
	case f.Kind == "parquet":
		return f.probeParquet(ctx, p)
	case f.CSV.Header:
		head, _, err := p.Head(ctx)
		if err != nil {
			return err
		}
		if names = header(head, f.CSV.Comma); names == nil {
			return nil // an empty shard
		}
	}
	cols, err := columns.Assign(names, f.Explicit)
	if err != nil {
		return err
	}
	f.settle(cols, names)
	return nil
}

func (f *Form) probeParquet(ctx context.Context, p *part.Part) error {
	file, err := openParquet(ctx, &part.Part{Reader: p.Reader, Name: p.Name, Place: p.Place, Size: p.Size})
	if err != nil {
		return err
	}
	defer file.close()
	if f.Written, err = file.own(); err != nil {
		return err
	}
	if f.Written != nil {
		f.Root, f.Own, f.OfStore = f.Written.root, true, true
	}
	file.rename(f.Fields)
	cols, err := columns.Assign(file.names, f.Explicit)
	if err != nil {
		return err
	}
	f.settle(cols, file.names)
	return nil
}

func (f *Form) probeJSONL(p *part.Part, head []byte) error {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var names []string
	object, err := jsonObject(newJSON(bytes.NewReader(line)))
	if err != nil || rowless(object) {
		return nil // an object over several lines, or one that is no row: found out when reading
	}
	for _, m := range object {
		names = append(names, m.name)
	}
	cols, err := columns.Assign(names, f.Explicit)
	if err != nil {
		return err
	}
	f.settle(cols, names)
	return nil
}
