package expr

import (
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// checker gives types to expressions.
type checker struct{ Session }

// Check gives types to a predicate, which must be a condition.
//
// Errors: those of the text, as *syntax.Fault.
func Check(e *syntax.Expr, s Session) (*Node, error) {
	c := &checker{s}
	root, err := c.check(e)
	if err != nil {
		return nil, err
	}
	return c.condition(root, "a predicate")
}

// check gives types to e and all below it.
func (c *checker) check(e *syntax.Expr) (*Node, error) {
	switch e.Form {
	case syntax.Literal:
		n := c.constant(e.Value.Type, e.Value.Value, e.Pos)
		n.literal = true
		return n, nil
	case syntax.Column:
		return c.column(e)
	}
	kids := make([]*Node, len(e.Kids))
	for i, k := range e.Kids {
		var err error
		if kids[i], err = c.check(k); err != nil {
			return nil, err
		}
	}
	switch e.Form {
	case syntax.Binary:
		return c.binary(e.Text, e.Pos, kids[0], kids[1])
	case syntax.And, syntax.Or, syntax.Not:
		return c.logic(e, kids)
	case syntax.Negate:
		return c.negate(e, kids[0])
	case syntax.IsNull:
		return c.isNull(e.Pos, kids[0], e.Negated), nil
	case syntax.In:
		return c.in(e, kids)
	case syntax.Between:
		return c.between(e, kids)
	case syntax.Like:
		return c.like(e, kids)
	case syntax.RLike:
		return c.rlike(e, kids)
	case syntax.Case:
		return c.cases(e, kids)
	case syntax.Cast:
		to, _ := sql.ParseType(e.Text) // the parser has read it
		return c.cast(kids[0], to, e.Pos)
	}
	return c.call(e, kids)
}

func (c *checker) column(e *syntax.Expr) (*Node, error) {
	i := slices.IndexFunc(c.Columns, func(col Column) bool { return strings.EqualFold(col.Name, e.Text) })
	if i >= 0 {
		col := c.Columns[i]
		if col.Type.Kind == sql.Void {
			return nil, syntax.Faultf(e.Pos, "partition column %q has the type %q, which predicates can't read", col.Name, col.TypeName)
		}
		return &Node{Form: syntax.Column, Type: col.Type, pos: e.Pos, Columns: []int{i}, Eval: func(r *Row) sql.Value { return r.Values[i] }}, nil
	}
	if !e.Quoted {
		if name := strings.ToLower(e.Text); name == "current_date" || name == "current_timestamp" {
			return c.call(&syntax.Expr{Form: syntax.Call, Pos: e.Pos, Text: name}, nil)
		}
	}
	if slices.ContainsFunc(c.Others, func(name string) bool { return strings.EqualFold(name, e.Text) }) {
		return nil, syntax.Faultf(e.Pos, "predicate references non-partition column %q", e.Text).Fix("Only partition columns can be used, because files are deleted whole.")
	}
	return nil, syntax.Faultf(e.Pos, "predicate references non-partition column %q, which the table doesn't have", e.Text).Fix("A string goes in quotes: '%s'.", e.Text)
}

func (c *checker) logic(e *syntax.Expr, kids []*Node) (*Node, error) {
	for i := range kids {
		var err error
		if kids[i], err = c.condition(kids[i], "an operand of "+map[syntax.Form]string{syntax.And: "AND", syntax.Or: "OR", syntax.Not: "NOT"}[e.Form]); err != nil {
			return nil, err
		}
	}
	n := Node{Form: e.Form, Type: sql.Type{Kind: sql.Boolean}, pos: e.Pos, Kids: kids}
	if e.Form == syntax.Not {
		kid := kids[0]
		n.Eval = func(r *Row) sql.Value {
			v := kid.Eval(r)
			if !v.Null {
				v.I = 1 - v.I
			}
			return v
		}
		return c.make(n), nil
	}
	decides := e.Form == syntax.Or // the operand that settles the outcome
	n.Eval = func(r *Row) sql.Value {
		out := sql.Bool(!decides)
		for _, k := range kids {
			v := k.Eval(r)
			switch {
			case v.Null:
				out = sql.Null
			case (v.I != 0) == decides:
				return v
			}
		}
		return out
	}
	return c.make(n), nil
}

func (c *checker) isNull(pos int, kid *Node, negated bool) *Node {
	return c.make(Node{Form: syntax.IsNull, Type: sql.Type{Kind: sql.Boolean}, pos: pos, Kids: []*Node{kid},
		Eval: func(r *Row) sql.Value { return sql.Bool(kid.Eval(r).Null != negated) }})
}

// cases checks CASE; the simple form compares its operand with each condition.
func (c *checker) cases(e *syntax.Expr, kids []*Node) (*Node, error) {
	if e.Text == "simple" {
		operand := kids[0]
		kids = kids[1:]
		for i := 0; i+1 < len(kids); i += 2 {
			var err error
			if kids[i], err = c.compare("=", kids[i].pos, operand, kids[i]); err != nil {
				return nil, err
			}
		}
	}
	var results []*Node
	for i := range kids {
		if last := i == len(kids)-1; i%2 == 1 || last {
			results = append(results, kids[i])
			continue
		}
		var err error
		if kids[i], err = c.condition(kids[i], "a condition of CASE"); err != nil {
			return nil, err
		}
	}
	common, err := widest(e.Pos, "the results of CASE", results)
	if err != nil {
		return nil, err
	}
	for i := range kids {
		if i%2 == 0 && i != len(kids)-1 {
			continue
		}
		if kids[i], err = c.implicit(kids[i], common, kids[i].pos); err != nil {
			return nil, err
		}
	}
	return c.make(Node{Form: syntax.Case, Type: common, pos: e.Pos, Kids: kids, Eval: func(r *Row) sql.Value {
		for i := 0; i+1 < len(kids); i += 2 {
			if kids[i].Eval(r).IsTrue() {
				return kids[i+1].Eval(r)
			}
		}
		return kids[len(kids)-1].Eval(r)
	}}), nil
}
