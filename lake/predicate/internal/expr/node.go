package expr

import (
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// Node is a checked expression: its type is known, all casts are in it.
type Node struct {
	Form    syntax.Form
	Text    string // the operator or function
	Type    sql.Type
	pos     int
	Columns []int // of the schema, in order, without repeats
	Kids    []*Node
	literal bool             // a literal as it was written
	Value   sql.Value        // without columns; of LIKE, the text that all matches begin with
	Pattern calendar.Pattern // of to_date and to_timestamp, if one was given
	Eval    func(r *Row) sql.Value
}

// Row is what one evaluation knows. A predicate's nodes never keep it.
type Row struct {
	Values []sql.Value // by the column's place in the session
	Known  []bool
	Doubt  sql.Doubt
}

// Session is what expressions are checked in.
type Session struct {
	Columns []Column       // that may be referred to, in the table's order
	Others  []string       // names of columns that may not, for messages
	Now     time.Time      // of current_date and current_timestamp; zero refuses them
	Zone    *time.Location // of wall clocks
}

// Column is a column that expressions may refer to.
type Column struct {
	Name     string
	TypeName string   // as the table spells it
	Type     sql.Type // void if it isn't known
}

// make completes n: its columns come from its kids, and without columns it is
// evaluated at once.
func (c *checker) make(n Node) *Node {
	for _, k := range n.Kids {
		n.Columns = append(n.Columns, k.Columns...)
	}
	slices.Sort(n.Columns)
	n.Columns = slices.Compact(n.Columns)
	if len(n.Columns) == 0 {
		r := Row{}
		if v := n.Eval(&r); !r.Doubt {
			n.Value, n.Eval = v, func(*Row) sql.Value { return v }
		}
	}
	return &n
}

func (c *checker) constant(t sql.Type, v sql.Value, pos int) *Node {
	return &Node{Form: syntax.Literal, Type: t, pos: pos, Value: v, Eval: func(*Row) sql.Value { return v }}
}

// strict makes a node that is NULL where one of its kids is.
func (c *checker) strict(text string, t sql.Type, pos int, kids []*Node, eval func(r *Row, v []sql.Value) sql.Value) *Node {
	return c.make(Node{Form: syntax.Call, Text: text, Type: t, pos: pos, Kids: kids, Eval: func(r *Row) sql.Value {
		var few [3]sql.Value
		v := few[:0]
		for _, k := range kids {
			x := k.Eval(r)
			if x.Null {
				return sql.Null
			}
			v = append(v, x)
		}
		return eval(r, v)
	}})
}
