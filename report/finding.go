package report

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table"
)

// findingRow is a row of verify; its message_type is what was found.
type findingRow struct {
	MessageType string  `json:"message_type"`
	Schema      int     `json:"schema"`
	Path        *string `json:"path,omitempty"`
	PathBase64  string  `json:"path_base64,omitempty"`
	Detail      string  `json:"detail"`
	Size        *int64  `json:"size,omitempty"`
	Actual      *int64  `json:"actual,omitempty"`

	name string
}

func (r *findingRow) object() any  { return r }
func (r *findingRow) path() string { return r.name }

func (r *findingRow) cells() []string {
	return []string{r.MessageType, r.name, r.Detail, number(r.Size), number(r.Actual)}
}

func (r *findingRow) line(*Printer) string {
	return "  " + padRight(r.MessageType, 14) + " " + Printable(r.name) + ": " + Printable(r.Detail)
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// findingsRow is the summary of verify.
type findingsRow struct {
	MessageType string `json:"message_type"`
	Schema      int    `json:"schema"`
	Table       string `json:"table"`
	Count       int64  `json:"count"`
}

// Findings prints what verify finds and returns how many there were.
func (p *Printer) Findings(place string, rows iter.Seq2[table.Finding, error]) (int64, error) {
	s, err := p.begin("findings", []string{"type", "path", "detail", "size", "actual"}, 100)
	if err != nil {
		return 0, err
	}
	rowsErr := eachRow(s, rows, func(f table.Finding) row {
		r := &findingRow{MessageType: f.Type, Schema: Schema, Detail: f.Detail, Size: f.Size, Actual: f.Actual, name: f.Path}
		r.Path, r.PathBase64 = encodePath(f.Path)
		return r
	})
	text := func() error {
		if rowsErr != nil {
			return nil
		}
		if more := s.rows - s.shown; more > 0 {
			if err := p.printf("  … and %s more: -v shows all\n", Count(more)); err != nil {
				return err
			}
		}
		if s.rows == 0 {
			return p.printf("%s: every file that the table refers to is there\n", Printable(place))
		}
		return p.printf("%s: %s\n", Printable(place), Plural(s.rows, "finding"))
	}
	if err := s.end(findingsRow{"summary", Schema, place, s.rows}, text, rowsErr != nil); err != nil {
		return s.rows, err
	}
	return s.rows, rowsErr
}

// eachRow feeds a stream from a sequence.
func eachRow[T any](s *stream, rows iter.Seq2[T, error], make func(T) row) error {
	for v, err := range rows {
		if err != nil {
			return err
		}
		if err := s.add(make(v)); err != nil {
			return err
		}
	}
	return nil
}

// amount is files and bytes.
type amount struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// usageRow is a row of usage.
type usageRow struct {
	MessageType string     `json:"message_type"`
	Schema      int        `json:"schema"`
	Partition   *partition `json:"partition"` // null: unknown
	Live        amount     `json:"live"`
	History     amount     `json:"history"`
	Dead        amount     `json:"dead"`
	Unknown     amount     `json:"unknown"`
}

func (r *usageRow) object() any  { return r }
func (r *usageRow) path() string { return "" }

func (r *usageRow) label() string {
	switch {
	case r.Partition == nil:
		return "(unknown)"
	case len(*r.Partition) == 0:
		return "(whole table)"
	}
	return r.Partition.String()
}

func (r *usageRow) cells() []string {
	cells := []string{r.label()}
	for _, a := range []amount{r.Live, r.History, r.Dead, r.Unknown} {
		cells = append(cells, strconv.FormatInt(a.Files, 10), strconv.FormatInt(a.Bytes, 10))
	}
	return cells
}

func (r *usageRow) line(*Printer) string {
	s := ""
	for _, a := range []amount{r.Live, r.History, r.Dead, r.Unknown} {
		s += pad(Count(a.Files), 11) + pad(Bytes(a.Bytes), 12)
	}
	return s + "  " + Printable(r.label())
}

func newUsageRow(kind string, u table.Usage) *usageRow {
	r := &usageRow{kind, Schema, nil, amount{u.Live[0], u.Live[1]}, amount{u.History[0], u.History[1]},
		amount{u.Dead[0], u.Dead[1]}, amount{u.Unknown[0], u.Unknown[1]}}
	if u.Partition != nil {
		part := partition(u.Partition)
		r.Partition = &part
	}
	return r
}

// usageTotal is the summary of usage.
type usageTotal struct {
	MessageType string `json:"message_type"`
	Schema      int    `json:"schema"`
	Table       string `json:"table"`
	Live        amount `json:"live"`
	History     amount `json:"history"`
	Dead        amount `json:"dead"`
	Unknown     amount `json:"unknown"`
}

// Usage prints a table's bytes by partition.
func (p *Printer) Usage(place string, rows iter.Seq2[table.Usage, error]) error {
	head := ""
	for _, name := range []string{"live", "history", "dead", "unknown"} {
		head += pad(name, 11) + pad("bytes", 12)
	}
	var total table.Usage
	s, err := p.begin("partitions", []string{"partition", "live_files", "live_bytes", "history_files", "history_bytes",
		"dead_files", "dead_bytes", "unknown_files", "unknown_bytes"}, 1000)
	if err != nil {
		return err
	}
	s.title = head + "  partition"
	rowsErr := eachRow(s, rows, func(u table.Usage) row {
		for i := range 2 {
			total.Live[i] += u.Live[i]
			total.History[i] += u.History[i]
			total.Dead[i] += u.Dead[i]
			total.Unknown[i] += u.Unknown[i]
		}
		return newUsageRow("usage", u)
	})
	t := newUsageRow("summary", total)
	sum := usageTotal{"summary", Schema, place, t.Live, t.History, t.Dead, t.Unknown}
	text := func() error {
		if rowsErr != nil {
			return nil
		}
		total.Partition = lake.Partition{}
		return p.printf("%s\n", newUsageRow("summary", total).line(p))
	}
	if err := s.end(sum, text, rowsErr != nil); err != nil {
		return err
	}
	return rowsErr
}

// explainRow is the document of explain for one path.
type explainRow struct {
	MessageType string          `json:"message_type"`
	Schema      int             `json:"schema"`
	Path        *string         `json:"path,omitempty"`
	PathBase64  string          `json:"path_base64,omitempty"`
	Verdict     string          `json:"verdict"`
	Because     []table.Because `json:"because"`

	name string
}

func (r *explainRow) object() any  { return r }
func (r *explainRow) path() string { return "" }

func (r *explainRow) cells() []string { return []string{r.name, r.Verdict, r.reasons("; ")} }

func (r *explainRow) line(p *Printer) string {
	return p.bold(r.Verdict) + "  " + Printable(r.name) + r.reasons("\n  ")
}

// reasons spells the reasons out, each led by sep.
func (r *explainRow) reasons(sep string) string {
	s := ""
	for _, b := range r.Because {
		at := b.Instant
		if b.Version != nil {
			at = fmt.Sprintf("version %d", *b.Version)
		}
		if at != "" {
			at += ", "
		}
		s += sep + at + b.Action + ": " + Printable(b.Rule)
	}
	return s
}

// Explanations prints why each of some paths is protected or dead.
func (p *Printer) Explanations(all []table.Explanation) error {
	s, err := p.begin("paths", []string{"path", "verdict", "because"}, int64(len(all)))
	if err != nil {
		return err
	}
	for _, e := range all {
		r := &explainRow{MessageType: "explanation", Schema: Schema, Verdict: e.Verdict, Because: e.Because, name: e.Path}
		r.Path, r.PathBase64 = encodePath(e.Path)
		if err := s.add(r); err != nil {
			return err
		}
	}
	return s.end(nil, nil, false)
}
