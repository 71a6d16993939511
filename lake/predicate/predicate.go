package predicate

import (
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
	Now  time.Time      // of current_date and current_timestamp
	Zone *time.Location // the session's time zone, UTC if nil
}

// Tri is the outcome of a predicate. Only True names a candidate.
type Tri uint8

// The outcomes.
const (
	False   Tri = iota
	True        //
	Null        // SQL's NULL
	Unknown     // a referenced column is missing or unreadable, or a number overflowed
)

// String returns the name of the outcome.
func (t Tri) String() string {
	switch t {
	case False:
		return "false"
	case True:
		return "true"
	case Null:
		return "null"
	}
	return "unknown"
}

// Predicate is a compiled condition on partition columns. It is immutable and
// safe for concurrent use.
type Predicate struct {
	text    string
	columns []string
}

// Compile reads expr, a Spark SQL condition on the partition columns of s.
//
// Errors: Invalid, with the place of the fault under a caret, the columns that
// exist and what to write instead.
func Compile(expr string, s Schema, o Options) (*Predicate, error) {
	return nil, &lake.Error{Op: "read predicate", Kind: lake.Unsupported}
}

// Columns returns the logical names of the columns that p refers to, in the
// table's order.
func (p *Predicate) Columns() []string { return p.columns }

// String returns the text that p was compiled from.
func (p *Predicate) String() string { return p.text }

// Match evaluates p on the logical values of one partition. Empty values are
// NULL, whatever the type. A referenced column that values lacks, or whose
// text its type can't read, makes the outcome Unknown.
func (p *Predicate) Match(values lake.Partition) Tri { return Unknown }

// MayMatch reports whether values, of which columns may be missing, could be
// completed to a partition that matches. It errs on the side of true.
func (p *Predicate) MayMatch(values lake.Partition) bool { return true }

// FromPath attributes an untracked file by its directory: every partition
// column of s, by its physical name, must stand exactly once in the path in
// Hive form (name=value, unescaped once), with a value that its type can read.
// Otherwise ok is false, and the partition is unknown.
func FromPath(key lake.Key, s Schema) (values lake.Partition, ok bool) { return nil, false }

// FromDir reads the columns that directory dir fixes for the untracked files
// anywhere below it; MayMatch tells whether one of them could match. ok is
// false if no untracked file below dir can be attributed at all.
func FromDir(dir lake.Key, s Schema) (values lake.Partition, ok bool) { return nil, true }
