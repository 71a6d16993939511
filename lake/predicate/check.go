package predicate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// node is a checked expression: its type is known, all casts are in it.
type node struct {
	form    form
	text    string // the operator or function
	negated bool
	typ     typ
	pos     int
	columns []int // of the schema, in order, without repeats
	kids    []*node
	literal bool // a literal as it was written
	value   value
	pattern pattern // of to_date and to_timestamp, if one was given
	eval    func(r *row) value
}

// checker gives types to expressions.
type checker struct {
	schema Schema
	types  []typ // of the partition columns
	opts   Options
}

// make completes n: its columns come from its kids, and without columns it is
// evaluated at once.
func (c *checker) make(n node) *node {
	for _, k := range n.kids {
		n.columns = append(n.columns, k.columns...)
	}
	slices.Sort(n.columns)
	n.columns = slices.Compact(n.columns)
	if len(n.columns) == 0 {
		r := row{}
		if v := n.eval(&r); !r.doubt {
			n.value, n.eval = v, func(*row) value { return v }
		}
	}
	return &n
}

func (c *checker) constant(t typ, v value, pos int) *node {
	return &node{form: fLiteral, typ: t, pos: pos, value: v, eval: func(*row) value { return v }}
}

// check gives types to e and all below it.
func (c *checker) check(e *expr) (*node, error) {
	switch e.form {
	case fLiteral:
		n := c.constant(e.value.typ, e.value.value, e.pos)
		n.literal = true
		return n, nil
	case fColumn:
		return c.column(e)
	}
	kids := make([]*node, len(e.kids))
	for i, k := range e.kids {
		var err error
		if kids[i], err = c.check(k); err != nil {
			return nil, err
		}
	}
	switch e.form {
	case fBinary:
		return c.binary(e.text, e.pos, kids[0], kids[1])
	case fAnd, fOr, fNot:
		return c.logic(e, kids)
	case fNegate:
		return c.negate(e, kids[0])
	case fIsNull:
		return c.isNull(e.pos, kids[0], e.negated), nil
	case fIn:
		return c.in(e, kids)
	case fBetween:
		return c.between(e, kids)
	case fLike:
		return c.like(e, kids)
	case fRLike:
		return c.rlike(e, kids)
	case fCase:
		return c.cases(e, kids)
	case fCast:
		to, _ := parseType(e.text) // the parser has read it
		return c.cast(kids[0], to, e.pos)
	}
	return c.call(e, kids)
}

func (c *checker) column(e *expr) (*node, error) {
	i := slices.IndexFunc(c.schema.Partition, func(col Column) bool { return strings.EqualFold(col.Name, e.text) })
	if i >= 0 {
		if c.types[i].kind == kNull {
			return nil, faultf(e.pos, "partition column %q has the type %q, which predicates can't read", c.schema.Partition[i].Name, c.schema.Partition[i].Type)
		}
		return &node{form: fColumn, typ: c.types[i], pos: e.pos, columns: []int{i}, eval: func(r *row) value { return r.values[i] }}, nil
	}
	if !e.quoted {
		if name := strings.ToLower(e.text); name == "current_date" || name == "current_timestamp" {
			return c.call(&expr{form: fCall, pos: e.pos, text: name}, nil)
		}
	}
	if slices.ContainsFunc(c.schema.Other, func(name string) bool { return strings.EqualFold(name, e.text) }) {
		return nil, faultf(e.pos, "predicate references non-partition column %q", e.text).fix("Only partition columns can be used, because files are deleted whole.")
	}
	return nil, faultf(e.pos, "predicate references non-partition column %q, which the table doesn't have", e.text).fix("A string goes in quotes: '%s'.", e.text)
}

func (c *checker) zone() *time.Location { return c.opts.zone() }

// cast makes an explicit cast.
func (c *checker) cast(n *node, to typ, pos int) (*node, error) {
	if n.typ == to {
		return n, nil
	}
	convert := castTo(n.typ, to, c.zone())
	if convert == nil {
		return nil, faultf(pos, "can't cast %s to %s", n.typ, to)
	}
	return c.make(node{form: fCast, typ: to, pos: n.pos, kids: []*node{n}, eval: func(r *row) value {
		v := n.eval(r)
		if v.null {
			return null
		}
		return convert(r, v)
	}}), nil
}

// implicit makes a cast that the text doesn't spell out. A string literal must
// then be readable without loss: Spark would go on with NULL or a cut number.
func (c *checker) implicit(n *node, to typ, pos int) (*node, error) {
	out, err := c.cast(n, to, pos)
	if err != nil || n.typ.kind != kString || !n.literal || to.kind == kString || to.kind == kBinary {
		return out, err
	}
	lossy := to.integral() && strings.Contains(n.value.s, ".") || to.kind == kDate && strings.ContainsAny(trimAll(n.value.s), " T:")
	if out.value.null || lossy {
		return nil, faultf(n.pos, "'%s' is no %s", n.value.s, to).fix("%s", exampleOf(to))
	}
	return out, nil
}

func exampleOf(t typ) string {
	switch t.kind {
	case kDate:
		return "Write '2024-01-31', or cast the column."
	case kTimestamp, kTimestampNTZ:
		return "Write '2024-01-31 10:00:00', or cast the column."
	case kBoolean:
		return "Write true or false."
	}
	return fmt.Sprintf("Write a number, or CAST the text AS %s.", t)
}

// condition makes sure that n is boolean.
func (c *checker) condition(n *node, what string) (*node, error) {
	if n.typ.kind == kNull {
		return c.cast(n, typ{kind: kBoolean}, n.pos)
	}
	if n.typ.kind != kBoolean {
		return nil, faultf(n.pos, "%s must be true or false, this is a %s", what, n.typ)
	}
	return n, nil
}

func (c *checker) logic(e *expr, kids []*node) (*node, error) {
	for i := range kids {
		var err error
		if kids[i], err = c.condition(kids[i], "an operand of "+map[form]string{fAnd: "AND", fOr: "OR", fNot: "NOT"}[e.form]); err != nil {
			return nil, err
		}
	}
	n := node{form: e.form, typ: typ{kind: kBoolean}, pos: e.pos, kids: kids}
	if e.form == fNot {
		kid := kids[0]
		n.eval = func(r *row) value {
			v := kid.eval(r)
			if !v.null {
				v.i = 1 - v.i
			}
			return v
		}
		return c.make(n), nil
	}
	decides := e.form == fOr // the operand that settles the outcome
	n.eval = func(r *row) value {
		out := boolean(!decides)
		for _, k := range kids {
			v := k.eval(r)
			switch {
			case v.null:
				out = null
			case (v.i != 0) == decides:
				return v
			}
		}
		return out
	}
	return c.make(n), nil
}

func (c *checker) isNull(pos int, kid *node, negated bool) *node {
	return c.make(node{form: fIsNull, negated: negated, typ: typ{kind: kBoolean}, pos: pos, kids: []*node{kid},
		eval: func(r *row) value { return boolean(kid.eval(r).null != negated) }})
}

// cases checks CASE; the simple form compares its operand with each condition.
func (c *checker) cases(e *expr, kids []*node) (*node, error) {
	if e.text == "simple" {
		operand := kids[0]
		kids = kids[1:]
		for i := 0; i+1 < len(kids); i += 2 {
			var err error
			if kids[i], err = c.compare("=", kids[i].pos, operand, kids[i]); err != nil {
				return nil, err
			}
		}
	}
	var types []typ
	for i := range kids {
		if last := i == len(kids)-1; i%2 == 1 || last {
			types = append(types, kids[i].typ)
			continue
		}
		var err error
		if kids[i], err = c.condition(kids[i], "a condition of CASE"); err != nil {
			return nil, err
		}
	}
	common, ok := widest(types)
	if !ok {
		return nil, faultf(e.pos, "the results of CASE have no common type: %s", typeList(types)).fix("CAST them to one type.")
	}
	for i := range kids {
		if i%2 == 0 && i != len(kids)-1 {
			continue
		}
		var err error
		if kids[i], err = c.implicit(kids[i], common, kids[i].pos); err != nil {
			return nil, err
		}
	}
	return c.make(node{form: fCase, typ: common, pos: e.pos, kids: kids, eval: func(r *row) value {
		for i := 0; i+1 < len(kids); i += 2 {
			if kids[i].eval(r).isTrue() {
				return kids[i+1].eval(r)
			}
		}
		return kids[len(kids)-1].eval(r)
	}}), nil
}

func typeList(types []typ) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}
