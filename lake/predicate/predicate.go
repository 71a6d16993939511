package predicate

import (
	"errors"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/expr"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// Column is a partition column of a table.
type Column struct {
	Name     string // logical name
	Physical string // name in the log's partitionValues and in directories; Name if empty
	Type     string // Delta's name of the type: "string", "integer", "decimal(10,2)", "timestamp", …
}

// Schema is what a predicate may refer to.
type Schema struct {
	Partition []Column // in the table's order
	Other     []string // the data columns, for messages
	Clustered bool     // clustered instead of partitioned, for messages
}

// Options are the session that a predicate is evaluated in.
type Options struct {
	Now  time.Time      // of current_date and current_timestamp; zero refuses them
	Zone *time.Location // the session's time zone, UTC if nil
}

// Tri is the outcome of a predicate. Only True names a candidate.
type Tri uint8

// The outcomes.
const (
	False   Tri = iota
	True        // the only outcome that lets a candidate die
	Null        // SQL's NULL
	Unknown     // a referenced column is missing or unreadable, or a number overflowed
)

// String returns the name of the outcome.
func (t Tri) String() string { return [...]string{"false", "true", "null", "unknown"}[t] }

// Predicate is a compiled condition on partition columns. It is immutable and
// safe for concurrent use.
type Predicate struct {
	text   string
	schema Schema
	types  []sql.Type // of the partition columns, void where one is unknown
	zone   *time.Location
	root   *expr.Node
}

// Compile reads text, a Spark SQL condition on the partition columns of s.
//
// Errors: Invalid, with the place of the fault under a caret, the columns that
// exist and what to write instead.
func Compile(text string, s Schema, o Options) (*Predicate, error) {
	if len(s.Partition) == 0 {
		return nil, unpartitioned(s)
	}
	p := &Predicate{text: strings.TrimSpace(text), schema: s, types: columnTypes(s), zone: o.Zone}
	if p.zone == nil {
		p.zone = time.UTC
	}
	parsed, err := syntax.Parse(text, p.zone, expr.Callable)
	if err != nil {
		return nil, invalid(text, s, err)
	}
	session := expr.Session{Others: s.Other, Now: o.Now, Zone: p.zone}
	for i, c := range s.Partition {
		session.Columns = append(session.Columns, expr.Column{Name: c.Name, TypeName: c.Type, Type: p.types[i]})
	}
	if p.root, err = expr.Check(parsed, session); err != nil {
		return nil, invalid(text, s, err)
	}
	return p, nil
}

func unpartitioned(s Schema) error {
	hint := "The table has no partition columns: run without the filter."
	if s.Clustered {
		hint = "The table is clustered, not partitioned: its files belong to no partition. Run without the filter."
	}
	return &lake.Error{Op: "read predicate", Kind: lake.Invalid, Hint: hint,
		Err: errors.New("filtering clause expects partition predicates and only supports partitioned tables")}
}

// columnTypes are the types of the partition columns, void where one is unknown.
func columnTypes(s Schema) []sql.Type {
	types := make([]sql.Type, len(s.Partition))
	for i, col := range s.Partition {
		types[i], _ = sql.ParseType(col.Type)
	}
	return types
}

// Columns returns the logical names of the columns that p refers to, in the
// table's order.
func (p *Predicate) Columns() []string {
	names := make([]string, len(p.root.Columns))
	for i, c := range p.root.Columns {
		names[i] = p.schema.Partition[c].Name
	}
	return names
}

// String returns the text that p was compiled from.
func (p *Predicate) String() string { return p.text }

// Match evaluates p on the logical values of one partition. Empty values are
// NULL, whatever the type. A referenced column that values lacks, or whose
// text its type can't read, makes the outcome Unknown.
func (p *Predicate) Match(values lake.Partition) Tri {
	r, readable := p.row(values)
	if !readable {
		return Unknown
	}
	for _, c := range p.root.Columns {
		if !r.Known[c] {
			return Unknown
		}
	}
	v := p.root.Eval(r)
	switch {
	case bool(r.Doubt):
		return Unknown
	case v.Null:
		return Null
	case v.I != 0:
		return True
	}
	return False
}

// row reads the values of the columns that p refers to. readable is false if
// one of them can't be read by its type.
func (p *Predicate) row(values lake.Partition) (r *expr.Row, readable bool) {
	r = &expr.Row{Values: make([]sql.Value, len(p.types)), Known: make([]bool, len(p.types))}
	for _, c := range p.root.Columns {
		for _, v := range values {
			if !strings.EqualFold(v.Column, p.schema.Partition[c].Name) {
				continue
			}
			x, ok := sql.Read(v, p.types[c], p.zone)
			if !ok || r.Known[c] {
				return r, false
			}
			r.Values[c], r.Known[c] = x, true
		}
	}
	return r, true
}
