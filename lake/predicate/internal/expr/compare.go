package expr

import (
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// common casts both sides of a comparison to one type.
func (c *checker) common(pos int, left, right *Node) (*Node, *Node, error) {
	t, ok := sql.Comparable(left.Type, right.Type)
	if !ok {
		return nil, nil, syntax.Faultf(pos, "can't compare %s with %s", left.Type, right.Type).Fix("CAST one side to the type of the other.")
	}
	l, err := c.implicit(left, t, pos)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.implicit(right, t, pos)
	return l, r, err
}

func (c *checker) compare(op string, pos int, left, right *Node) (*Node, error) {
	left, right, err := c.common(pos, left, right)
	if err != nil {
		return nil, err
	}
	t := left.Type
	return c.make(Node{Form: syntax.Binary, Text: op, Type: sql.Type{Kind: sql.Boolean}, pos: pos, Kids: []*Node{left, right}, Eval: func(r *Row) sql.Value {
		a, b := left.Eval(r), right.Eval(r)
		switch {
		case !a.Null && !b.Null:
			return sql.Bool(sql.Holds(op, sql.Compare(t, a, b)))
		case op == "<=>":
			return sql.Bool(a.Null && b.Null)
		}
		return sql.Null
	}}), nil
}

func (c *checker) negation(n *Node, negated bool) *Node {
	if !negated {
		return n
	}
	return c.make(Node{Form: syntax.Not, Type: n.Type, pos: n.pos, Kids: []*Node{n}, Eval: func(r *Row) sql.Value {
		v := n.Eval(r)
		if !v.Null {
			v.I = 1 - v.I
		}
		return v
	}})
}

func (c *checker) between(e *syntax.Expr, kids []*Node) (*Node, error) {
	low, err := c.compare(">=", e.Pos, kids[0], kids[1])
	if err != nil {
		return nil, err
	}
	high, err := c.compare("<=", e.Pos, kids[0], kids[2])
	if err != nil {
		return nil, err
	}
	both, err := c.logic(&syntax.Expr{Form: syntax.And, Pos: e.Pos}, []*Node{low, high})
	if err != nil {
		return nil, err
	}
	return c.negation(both, e.Negated), nil
}

// in checks a list. Unlike a comparison it casts to the widest of all types:
// a string in it makes everything a string.
func (c *checker) in(e *syntax.Expr, kids []*Node) (*Node, error) {
	t, err := widest(e.Pos, "the value and the list of IN", kids)
	if err != nil {
		return nil, err
	}
	if t.Kind == sql.String && kids[0].Type.Kind != sql.String && kids[0].Type.Kind != sql.Void {
		if err := c.readableList(kids); err != nil {
			return nil, err
		}
	}
	for i := range kids {
		if kids[i], err = c.implicit(kids[i], t, e.Pos); err != nil {
			return nil, err
		}
	}
	n := c.make(Node{Form: syntax.In, Type: sql.Type{Kind: sql.Boolean}, pos: e.Pos, Kids: kids, Eval: func(r *Row) sql.Value {
		v := kids[0].Eval(r)
		if v.Null {
			return sql.Null
		}
		out := sql.Bool(false)
		for _, k := range kids[1:] {
			switch other := k.Eval(r); {
			case other.Null:
				out = sql.Null
			case sql.Compare(t, v, other) == 0:
				return sql.Bool(true)
			}
		}
		return out
	}})
	return c.negation(n, e.Negated), nil
}

// readableList refuses string literals in the list of a column that isn't a
// string where the text isn't how that type is written: '07' never equals 7,
// and Spark would silently find nothing.
func (c *checker) readableList(kids []*Node) error {
	for _, k := range kids[1:] {
		if !k.literal || k.Type.Kind != sql.String {
			continue
		}
		back := sql.Cast(sql.Type{Kind: sql.String}, kids[0].Type, c.Zone)
		if back == nil {
			continue
		}
		var lost sql.Doubt
		if v := back(&lost, k.Value); v.Null || bool(lost) || sql.Format(v, kids[0].Type, c.Zone) != k.Value.S {
			return syntax.Faultf(k.pos, "'%s' isn't how a %s is written, so it equals none", k.Value.S, kids[0].Type).Fix("Write the values without quotes, or as DATE '…' and TIMESTAMP '…'.")
		}
	}
	return nil
}
