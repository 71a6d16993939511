package report

import (
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// fileRow is a row {message_type: "file"}: one dead object of a plan.
type fileRow struct {
	MessageType   string     `json:"message_type"`
	Schema        int        `json:"schema"`
	Table         string     `json:"table,omitempty"` // with several tables only
	Path          *string    `json:"path,omitempty"`
	PathBase64    string     `json:"path_base64,omitempty"`
	Size          *int64     `json:"size"`
	Modified      *string    `json:"modified"`
	Reason        string     `json:"reason"`
	Partition     *partition `json:"partition,omitempty"`
	TombstoneTime *string    `json:"tombstone_time,omitempty"`
	DueAt         *string    `json:"due_at,omitempty"`
	ReferredBy    string     `json:"referred_by,omitempty"`
	Refused       bool       `json:"refused,omitempty"`

	v      *lake.Verdict
	place  string    // what paths are printed below, for several tables
	values partition // what Partition points to
}

func fileColumns() []string {
	return []string{"table", "path", "size", "modified", "reason", "partition", "tombstone_time", "due_at", "referred_by"}
}

// set makes r the row of v, which it refers to.
func (r *fileRow) set(table string, many, refused bool, v *lake.Verdict) {
	*r = fileRow{MessageType: "file", Schema: Schema, Reason: string(v.Reason), Refused: refused, ReferredBy: string(v.Referrer), v: v}
	if many {
		r.Table, r.place = table, table+"/"
	}
	if v.Size >= 0 && !v.Directory {
		r.Size = &v.Size
	}
	if v.Partition != nil {
		r.values = partition(v.Partition)
		r.Partition = &r.values
	}
}

// name spells the object: below the table's root, directories with a trailing
// slash; a blob as its records spell it.
func (r *fileRow) name() string {
	switch {
	case r.v.URI != "":
		return r.v.URI
	case r.v.Directory:
		return string(r.v.Key) + "/"
	}
	return string(r.v.Key)
}

func (r *fileRow) object() any {
	r.Path, r.PathBase64 = encodePath(r.name())
	r.Modified, r.TombstoneTime, r.DueAt = stamp(r.v.Modified), stamp(r.v.Tombstone), stamp(r.v.DueAt)
	return r
}

func (r *fileRow) path() string {
	if r.v.URI != "" {
		return r.v.URI
	}
	return r.place + r.name()
}

func (r *fileRow) cells() []string {
	size, values := "", ""
	if r.Size != nil {
		size = strconv.FormatInt(*r.Size, 10)
	}
	if r.Partition != nil {
		values = r.Partition.String()
	}
	return []string{r.Table, r.name(), size, stampCell(r.v.Modified), r.Reason, values,
		stampCell(r.v.Tombstone), stampCell(r.v.DueAt), r.ReferredBy}
}

func (r *fileRow) line(p *Printer) string {
	size := "?"
	switch {
	case r.v.Directory:
		size = "-"
	case r.v.Size >= 0:
		size = Bytes(r.v.Size)
	}
	return "  " + pad(size, 11) + "  " + pad(r.since(p.opt.Now), 20) + "  " + padRight(r.Reason, 15) + "  " + Printable(r.name())
}

// since tells how long ago the object was removed from the table or, of what
// never was in it, written; "?" if neither is known.
func (r *fileRow) since(now time.Time) string {
	what, at := "removed", r.v.Tombstone
	if at.IsZero() {
		what, at = "written", r.v.Modified
	}
	if at.IsZero() || now.IsZero() {
		return "?"
	}
	return what + " " + pad(lake.Span(now.Sub(at)), 8) + " ago"
}

// encodePath gives a path as JSON can hold it: text, or base64 of its bytes.
func encodePath(s string) (path *string, encoded string) {
	if utf8.ValidString(s) {
		return &s, ""
	}
	return nil, base64.StdEncoding.EncodeToString([]byte(s))
}

// partition is an object of strings, null for SQL NULL, in the table's order.
type partition lake.Partition

// MarshalJSON writes the object. Bytes that aren't UTF-8 become U+FFFD.
func (p partition) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSON(b, v.Column), ':')
		if v.Null {
			b = append(b, "null"...)
		} else {
			b = appendJSON(b, v.Value)
		}
	}
	return append(b, '}'), nil
}

func appendJSON(b []byte, s string) []byte {
	quoted, _ := jsontext.AppendQuote(b, s) // an error says that s isn't UTF-8; the replacement stands in quoted then
	return quoted
}

// String returns "a=1/b=NULL" for people and CSV.
func (p partition) String() string {
	s := ""
	for i, v := range p {
		if i > 0 {
			s += "/"
		}
		if v.Null {
			s += v.Column + "=NULL"
		} else {
			s += v.Column + "=" + v.Value
		}
	}
	return s
}

// guardRow is a row {message_type: "guard"}.
type guardRow struct {
	MessageType string `json:"message_type"`
	Schema      int    `json:"schema"`
	Table       string `json:"table,omitempty"`
	filelist.Guard
}
