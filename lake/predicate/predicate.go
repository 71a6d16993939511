package predicate

import (
	"errors"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
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
	types  []typ
	zone   *time.Location
	root   *node
}

// Compile reads expr, a Spark SQL condition on the partition columns of s.
//
// Errors: Invalid, with the place of the fault under a caret, the columns that
// exist and what to write instead.
func Compile(expr string, s Schema, o Options) (*Predicate, error) {
	if len(s.Partition) == 0 {
		return nil, unpartitioned(s)
	}
	parsed, err := parse(expr, o)
	if err != nil {
		return nil, invalid(expr, s, err)
	}
	c := &checker{schema: s, types: columnTypes(s), opts: o}
	root, err := c.check(parsed)
	if err != nil {
		return nil, invalid(expr, s, err)
	}
	if root, err = c.condition(root, "a predicate"); err != nil {
		return nil, invalid(expr, s, err)
	}
	return &Predicate{text: strings.TrimSpace(expr), schema: s, types: c.types, zone: o.zone(), root: root}, nil
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
func columnTypes(s Schema) []typ {
	types := make([]typ, len(s.Partition))
	for i, col := range s.Partition {
		types[i], _ = parseType(col.Type)
	}
	return types
}

// Columns returns the logical names of the columns that p refers to, in the
// table's order.
func (p *Predicate) Columns() []string {
	names := make([]string, len(p.root.columns))
	for i, c := range p.root.columns {
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
	for _, c := range p.root.columns {
		if !r.known[c] {
			return Unknown
		}
	}
	v := p.root.eval(r)
	switch {
	case r.doubt:
		return Unknown
	case v.null:
		return Null
	case v.i != 0:
		return True
	}
	return False
}

// row reads the values of the columns that p refers to. readable is false if
// one of them can't be read by its type.
func (p *Predicate) row(values lake.Partition) (r *row, readable bool) {
	r = &row{values: make([]value, len(p.types)), known: make([]bool, len(p.types))}
	for _, c := range p.root.columns {
		for _, v := range values {
			if !strings.EqualFold(v.Column, p.schema.Partition[c].Name) {
				continue
			}
			x, ok := read(v, p.types[c], p.zone)
			if !ok || r.known[c] {
				return r, false
			}
			r.values[c], r.known[c] = x, true
		}
	}
	return r, true
}
