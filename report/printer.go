package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// Schema is the number in the field "schema" of every JSON row. Within a
// number fields are only ever added.
const Schema = 1

// Format is a form of output.
type Format string

// The forms of output.
const (
	Text  Format = "text"
	JSON  Format = "json"
	JSONL Format = "jsonl"
	CSV   Format = "csv"
	Paths Format = "paths"
)

// ParseFormat reads the value of --output.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case Text, JSON, JSONL, CSV, Paths:
		return f, nil
	}
	return "", fmt.Errorf("%q is none of text, json, jsonl, csv and paths", s)
}

// Options says how to render. The zero value renders plain, short text.
type Options struct {
	Format  Format // Text if empty
	NUL     bool   // Paths: end each with NUL instead of a line break
	Verbose bool   // Text: every row instead of the first few
	Color   bool   // Text: colours for terminals
	Many    bool   // rows of several tables follow each other: each names its table
	Prices  Prices
	Now     time.Time // ages are told from here
}

// Printer renders to one writer. Not safe for concurrent use. It buffers:
// each of its documents ends with a flush.
type Printer struct {
	w   *bufio.Writer
	opt Options
	buf bytes.Buffer // of marshal
}

// New returns a Printer on w.
func New(w io.Writer, opt Options) *Printer {
	if opt.Format == "" {
		opt.Format = Text
	}
	return &Printer{w: bufio.NewWriterSize(w, 64<<10), opt: opt}
}

// row is one element of a stream in each of the forms.
type row interface {
	object() any          // the JSON object, with message_type and schema
	cells() []string      // the CSV fields
	line(*Printer) string // the text, without line break; "" prints nothing
	path() string         // what Paths prints; "" for none
}

// stream is a series of rows that a summary ends.
type stream struct {
	p     *Printer
	name  string // the field that holds the rows in a JSON document: "files"
	rows  int64
	sort  sorter
	limit int64 // Text without Verbose: so many lines at most
	shown int64
	title string // Text: a line before the first row
}

// begin starts a stream; head is the CSV header.
func (p *Printer) begin(name string, head []string, limit int64) (*stream, error) {
	s := &stream{p: p, name: name, limit: limit}
	s.sort.end = '\n'
	if p.opt.NUL {
		s.sort.end = 0
	}
	switch p.opt.Format {
	case JSON:
		return s, p.printf(`{"%s":[`, name)
	case CSV:
		return s, p.csv(head)
	}
	return s, nil
}

// add renders one row.
func (s *stream) add(r row) error {
	s.rows++
	p := s.p
	switch p.opt.Format {
	case JSON:
		if s.rows > 1 {
			if err := p.w.WriteByte(','); err != nil {
				return err
			}
		}
		if err := p.w.WriteByte('\n'); err != nil {
			return err
		}
		return p.object(r.object())
	case JSONL:
		return p.objectLine(r.object())
	case CSV:
		return p.csv(r.cells())
	case Paths:
		if path := r.path(); path != "" {
			return s.sort.add(path)
		}
		return nil
	}
	if s.full() {
		return nil
	}
	line := r.line(p)
	if line == "" {
		return nil
	}
	if s.shown++; s.shown == 1 && s.title != "" {
		line = s.title + "\n" + line
	}
	return p.printf("%s\n", line)
}

// full reports whether further rows would show nothing.
func (s *stream) full() bool {
	return s.p.opt.Format == Text && !s.p.opt.Verbose && s.shown >= s.limit
}

// end closes the stream with its summary (a struct), which JSON puts into the
// same document, and with whatever text prints. An incomplete stream prints no paths.
func (s *stream) end(summary any, text func() error, incomplete bool) error {
	p := s.p
	defer s.sort.close()
	switch p.opt.Format {
	case JSON:
		if err := s.endDocument(summary, incomplete); err != nil {
			return err
		}
	case JSONL:
		if summary != nil {
			if err := p.objectLine(summary); err != nil {
				return err
			}
		}
	case Paths:
		if !incomplete {
			if err := s.sort.writeTo(p.w); err != nil {
				return err
			}
		}
	case Text:
		if text != nil {
			if err := text(); err != nil {
				return err
			}
		}
	}
	return p.w.Flush()
}

func (s *stream) endDocument(summary any, incomplete bool) error {
	tail := "]"
	if s.rows > 0 {
		tail = "\n]"
	}
	if incomplete {
		tail += `,"incomplete":true`
	}
	fields := "}"
	if summary != nil {
		doc, err := s.p.marshal(summary)
		if err != nil {
			return err
		}
		if len(doc) > 2 {
			fields = "," + string(doc[1:])
		}
	}
	return s.p.printf("%s%s\n", tail, fields)
}

// Flush writes what is still buffered.
func (p *Printer) Flush() error { return p.w.Flush() }

func (p *Printer) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(p.w, format, args...)
	return err
}

func (p *Printer) object(v any) error {
	b, err := p.marshal(v)
	if err != nil {
		return err
	}
	_, err = p.w.Write(b)
	return err
}

func (p *Printer) objectLine(v any) error {
	if err := p.object(v); err != nil {
		return err
	}
	return p.w.WriteByte('\n')
}

// marshal is json.Marshal that leaves <, > and & as they are. The bytes are
// valid until the next call.
func (p *Printer) marshal(v any) ([]byte, error) {
	p.buf.Reset()
	e := json.NewEncoder(&p.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &lake.Error{Op: "write JSON", Err: err, Hint: "This is a fault of lakesweep; please report it."}
	}
	return bytes.TrimSuffix(p.buf.Bytes(), []byte{'\n'}), nil
}

// csv writes one record: fields with a comma, quote or line break are quoted.
// Source: RFC 4180, with line feeds alone.
func (p *Printer) csv(fields []string) error {
	for i, f := range fields {
		if i > 0 {
			f = "," + quoteCSV(f)
		} else {
			f = quoteCSV(f)
		}
		if _, err := p.w.WriteString(f); err != nil {
			return err
		}
	}
	return p.w.WriteByte('\n')
}

func quoteCSV(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
