package expr

import (
	"fmt"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// cast makes an explicit cast.
func (c *checker) cast(n *Node, to sql.Type, pos int) (*Node, error) {
	if n.Type == to {
		return n, nil
	}
	convert := sql.Cast(n.Type, to, c.Zone)
	if convert == nil {
		return nil, syntax.Faultf(pos, "can't cast %s to %s", n.Type, to)
	}
	return c.make(Node{Form: syntax.Cast, Type: to, pos: n.pos, Kids: []*Node{n}, Eval: func(r *Row) sql.Value {
		v := n.Eval(r)
		if v.Null {
			return sql.Null
		}
		return convert(&r.Doubt, v)
	}}), nil
}

// implicit makes a cast that the text doesn't spell out. A string literal must
// then be readable without loss: Spark would go on with NULL or a cut number.
func (c *checker) implicit(n *Node, to sql.Type, pos int) (*Node, error) {
	out, err := c.cast(n, to, pos)
	if err != nil || n.Type.Kind != sql.String || !n.literal || to.Kind == sql.String || to.Kind == sql.Binary {
		return out, err
	}
	lossy := to.Integral() && strings.Contains(n.Value.S, ".") || to.Kind == sql.Date && strings.ContainsAny(calendar.TrimAll(n.Value.S), " T:")
	if out.Value.Null || lossy {
		return nil, syntax.Faultf(n.pos, "'%s' is no %s", n.Value.S, to).Fix("%s", exampleOf(to))
	}
	return out, nil
}

// widest is the type that all of nodes, which are what, widen to.
func widest(pos int, what string, nodes []*Node) (sql.Type, error) {
	types, names := make([]sql.Type, len(nodes)), make([]string, len(nodes))
	for i, n := range nodes {
		types[i], names[i] = n.Type, n.Type.String()
	}
	t, ok := sql.Widest(types)
	if !ok {
		return t, syntax.Faultf(pos, "%s have no common type: %s", what, strings.Join(names, ", ")).Fix("CAST them to one type.")
	}
	return t, nil
}

func exampleOf(t sql.Type) string {
	switch t.Kind {
	case sql.Date:
		return "Write '2024-01-31', or cast the column."
	case sql.Timestamp, sql.TimestampNTZ:
		return "Write '2024-01-31 10:00:00', or cast the column."
	case sql.Boolean:
		return "Write true or false."
	}
	return fmt.Sprintf("Write a number, or CAST the text AS %s.", t)
}

// condition makes sure that n is boolean.
func (c *checker) condition(n *Node, what string) (*Node, error) {
	if n.Type.Kind == sql.Void {
		return c.cast(n, sql.Type{Kind: sql.Boolean}, n.pos)
	}
	if n.Type.Kind != sql.Boolean {
		return nil, syntax.Faultf(n.pos, "%s must be true or false, this is a %s", what, n.Type)
	}
	return n, nil
}

// argument casts an argument to the type that a function takes.
//
// Source: TypeCoercion.implicitCast of Spark 3.5, less what loses digits.
func (c *checker) argument(n *Node, to sql.Kind, name string) (*Node, error) {
	from := n.Type
	ok := from.Kind == to || from.Kind == sql.Void || to == sql.String
	switch to {
	case sql.Int:
		ok = ok || from.Integral()
	case sql.Double:
		ok = ok || from.Numeric() || from.Kind == sql.String
	case sql.Date, sql.Timestamp:
		ok = ok || from.Datetime() || from.Kind == sql.String
	case sql.Binary:
		ok = ok || from.Kind == sql.String
	}
	if !ok {
		return nil, syntax.Faultf(n.pos, "%s wants a %s here, this is a %s", name, sql.Type{Kind: to}, from).Fix("CAST it.")
	}
	return c.implicit(n, sql.Type{Kind: to}, n.pos)
}

// arguments casts all arguments, each to its own type.
func (c *checker) arguments(args []*Node, name string, to ...sql.Kind) ([]*Node, error) {
	out := make([]*Node, len(args))
	for i, a := range args {
		var err error
		if out[i], err = c.argument(a, to[min(i, len(to)-1)], name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// constantText is the value of an argument that can't depend on a column.
func constantText(n *Node, what string) (string, bool, error) {
	if len(n.Columns) > 0 {
		return "", false, syntax.Faultf(n.pos, "%s can't depend on a column", what).Fix("Write it as a literal.")
	}
	v := n.Eval(&Row{})
	return v.S, v.Null, nil
}
