package inventory

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lakesweep/lakesweep/lake"
)

// read hands on the rows of a text in this form.
func (f form) read(in io.Reader, explicit map[string]string, clock times, b *batch) error {
	switch f.kind {
	case "csv":
		return readCSV(in, f.csv, explicit, clock, b)
	case "jsonl":
		return readJSONL(in, explicit, clock, b)
	}
	return readLines(bufio.NewReaderSize(in, 64<<10), b)
}

// sniff settles the form of a list of plain files by the first of them, and
// checks that it has the columns.
func (s *Source) sniff(ctx context.Context, p *part) error {
	head, packed, err := s.head(ctx, p)
	if err != nil {
		return err
	}
	name := strings.ToLower(p.name)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0:
		s.form.kind = "paths" // an empty list
		return nil
	case bytes.HasPrefix(head, []byte("PAR1")) && !packed:
		s.form.kind = "parquet"
		return s.probeParquet(ctx, p)
	case bytes.HasPrefix(head, []byte("PAR1")):
		return p.failed(lake.Unsupported, errors.New("a Parquet file inside another compression"), "Unpack it first.")
	case bytes.HasPrefix(head, []byte("ORC")):
		return p.failed(lake.Unsupported, errors.New("an ORC file"), orcHint)
	case bytes.HasPrefix(head, []byte("Obj\x01")):
		return p.failed(lake.Unsupported, errors.New("an Avro file"), "Write the list as Parquet or CSV.")
	case bytes.HasPrefix(text, []byte("{")):
		s.form.kind = "jsonl"
		return s.probeJSONL(p, text)
	case bytes.HasPrefix(text, []byte("[")) && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")):
		return p.failed(lake.Unsupported, errors.New("a JSON array"), "Write one object a line, for instance with jq -c '.[]'.")
	}
	s.form.csv.comma = ','
	if strings.HasSuffix(name, ".tsv") {
		s.form.csv.comma = '\t'
	}
	first := header(head, s.form.csv.comma)
	isCSV := strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".tsv")
	switch {
	case looksLikeHeader(first) && (isCSV || len(first) > 1), isCSV && named(s.o.Columns, first):
		s.form.kind, s.form.csv.header = "csv", true
	case isCSV || s.o.Columns["path"] != "":
		s.form.kind = "csv"
		if len(s.o.Columns) == 0 {
			first = nil
		} else {
			first = numbered(len(first))
		}
	default:
		s.form.kind = "paths"
		return nil
	}
	if first == nil {
		return columnError(fmt.Errorf("%s has no header that names a column of paths", p.place),
			"Say which column is which: --inventory-columns path=2,size=6,modified=7 (numbers from 1) or path=NAME.")
	}
	cols, err := assign(first, s.o.Columns)
	if err != nil {
		return err
	}
	s.settle(cols, first)
	return nil
}

// settle takes over the columns of the first file. Where nobody says in which
// store the buckets are, the columns' names do: GCS calls a key a name, Azure a
// bucket a container.
func (s *Source) settle(cols columns, names []string) {
	s.form.latest, s.form.journal, s.form.versions = cols.has(roleLatest), cols.journal(), cols.has(roleVersion)
	s.info.Columns = cols.used(names)
	if s.info.Kind != "" || s.o.Columns["scheme"] != "" || !cols.has(roleBucket) {
		return
	}
	switch {
	case strings.EqualFold(names[cols[roleBucket]], "container"):
		s.form.scheme = "az"
	case strings.EqualFold(names[cols[rolePath]], "name"):
		s.form.scheme = "gs"
	}
}

const orcHint = "No ORC reader is built in: set the inventory's format to Parquet (best) or CSV."

// named reports whether explicit names a column by its name in fields.
func named(explicit map[string]string, fields []string) bool {
	for word, name := range explicit {
		if word == "encoding" || word == "scheme" {
			continue
		}
		if size([]byte(name)) >= 0 {
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

const headBytes = 64 << 10

// head returns the first bytes of a part, unpacked.
func (s *Source) head(ctx context.Context, p *part) (head []byte, packed bool, err error) {
	in, err := p.open(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	text, err := in.text()
	if err != nil {
		return nil, false, err
	}
	buf := make([]byte, headBytes)
	n, err := io.ReadFull(text, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false, p.damaged(err)
	}
	return buf[:n], text != in.packed, nil
}

func (s *Source) probeParquet(ctx context.Context, p *part) error {
	f, err := openParquet(ctx, &part{r: p.r, name: p.name, place: p.place, size: p.size})
	if err != nil {
		return err
	}
	defer f.close()
	if err := s.ownList(f); err != nil {
		return err
	}
	f.rename(s.form.fields)
	cols, err := assign(f.names, s.o.Columns)
	if err != nil {
		return err
	}
	s.settle(cols, f.names)
	return nil
}

func (s *Source) probeJSONL(p *part, head []byte) error {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var names []string
	object, err := jsonObject(newJSON(bytes.NewReader(line)))
	if err != nil || rowless(object) {
		return nil // an object over several lines, or one that is no row: found out when reading
	}
	for _, m := range object {
		names = append(names, m.name)
	}
	cols, err := assign(names, s.o.Columns)
	if err != nil {
		return err
	}
	s.settle(cols, names)
	return nil
}
