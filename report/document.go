package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/table"
)

// Document prints one document: its fields as JSON, led by message_type and
// schema, or facts (names and values) as text. CSV and Paths are Invalid.
func (p *Printer) Document(messageType string, doc any, facts [][2]string) error {
	switch p.opt.Format {
	case CSV, Paths:
		return &lake.Error{Op: "print " + messageType, Kind: lake.Invalid,
			Err: fmt.Errorf("there is no %s form of it", p.opt.Format), Hint: "Use -o text, json or jsonl."}
	case Text:
		if err := p.facts(facts); err != nil {
			return err
		}
		return p.w.Flush()
	}
	fields, err := p.marshal(doc)
	if err != nil {
		return err
	}
	if !json.Valid(fields) || len(fields) < 2 || fields[0] != '{' {
		return &lake.Error{Op: "write JSON", Err: fmt.Errorf("%T is no object", doc), Hint: "This is a fault of lakesweep; please report it."}
	}
	sep := ","
	if len(fields) == 2 {
		sep = ""
	}
	if err := p.printf(`{"message_type":"%s","schema":%d%s%s`+"\n", messageType, Schema, sep, fields[1:]); err != nil {
		return err
	}
	return p.w.Flush()
}

// Info prints the document of inspect.
func (p *Printer) Info(i table.Info) error {
	at := i.Instant
	if i.Version != nil {
		at = fmt.Sprintf("version %d", *i.Version)
	}
	facts := [][2]string{{"table", Printable(i.Table)}, {"format", strings.TrimSuffix(i.Format+", "+at, ", ")}}
	if !i.Committed.IsZero() {
		facts = append(facts, [2]string{"committed", i.Committed.UTC().Format(time.RFC3339)})
	}
	if i.TableID != "" {
		facts = append(facts, [2]string{"id", Printable(i.TableID)})
	}
	if i.Name != "" {
		facts = append(facts, [2]string{"name", Printable(i.Name)})
	}
	facts = append(facts,
		[2]string{"protocol", joinMap(i.Protocol)},
		[2]string{"features", orNone(strings.Join(i.Features, ", "))},
		[2]string{"partitions", orNone(Printable(strings.Join(i.PartitionColumns, ", ")))},
		[2]string{"retention", i.Retention + " (" + i.RetentionSource + ")"},
		[2]string{"active", active(i)})
	for _, k := range slices.Sorted(maps.Keys(i.Properties)) {
		facts = append(facts, [2]string{"property", Printable(k + " = " + i.Properties[k])})
	}
	return p.Document("table", i, facts)
}

func active(i table.Info) string {
	if i.ActiveFiles < 0 {
		return "unknown"
	}
	return Plural(i.ActiveFiles, "file") + ", " + Bytes(i.ActiveBytes)
}

func joinMap(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+" "+m[k])
	}
	return orNone(strings.Join(parts, ", "))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Checks prints the document of doctor.
func (p *Printer) Checks(place string, doc any, checks []filelist.Guard) error {
	facts := [][2]string{{"table", Printable(place)}}
	for _, c := range checks {
		fix := c.Fix
		if c.Outcome == filelist.Passed {
			fix = ""
		}
		facts = append(facts, [2]string{"", p.paint(c.Outcome, judged(c, fix))})
	}
	return p.Document("diagnosis", doc, facts)
}

// ErrorRow is a row {message_type: "error"}.
type ErrorRow struct {
	MessageType string `json:"message_type"`
	Schema      int    `json:"schema"`
	Kind        string `json:"kind"`
	Op          string `json:"op"`
	Table       string `json:"table,omitempty"`
	Code        string `json:"code,omitempty"`
	Message     string `json:"message"`
	Hint        string `json:"hint"`
}

// Error prints an error as a row, with JSON and JSONL only.
func (p *Printer) Error(e ErrorRow) error {
	if p.opt.Format != JSON && p.opt.Format != JSONL {
		return nil
	}
	e.MessageType, e.Schema = "error", Schema
	if err := p.objectLine(e); err != nil {
		return err
	}
	return p.w.Flush()
}
