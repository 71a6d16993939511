package predicate

import (
	"cmp"
	"math"
	"strings"
)

// compareValues orders two values of one type. NaN equals itself and is
// greater than all else; strings compare by their UTF-8 bytes.
func compareValues(t typ, a, b value) int {
	switch t.kind {
	case kFloat, kDouble:
		switch aNaN, bNaN := math.IsNaN(a.f), math.IsNaN(b.f); {
		case aNaN && bNaN:
			return 0
		case aNaN:
			return 1
		case bNaN:
			return -1
		}
		return cmp.Compare(a.f, b.f)
	case kDecimal:
		return a.d.Cmp(b.d)
	case kString, kBinary:
		return strings.Compare(a.s, b.s)
	}
	return cmp.Compare(a.i, b.i)
}

// holds reports whether the order of two values satisfies a comparison.
func holds(op string, order int) bool {
	switch op {
	case "=", "<=>":
		return order == 0
	case "<>":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// common casts both sides of a comparison to one type.
func (c *checker) common(pos int, left, right *node) (*node, *node, error) {
	t, ok := comparableType(left.typ, right.typ)
	if !ok {
		return nil, nil, faultf(pos, "can't compare %s with %s", left.typ, right.typ).fix("CAST one side to the type of the other.")
	}
	l, err := c.implicit(left, t, pos)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.implicit(right, t, pos)
	return l, r, err
}

func (c *checker) compare(op string, pos int, left, right *node) (*node, error) {
	left, right, err := c.common(pos, left, right)
	if err != nil {
		return nil, err
	}
	t := left.typ
	return c.make(node{form: fBinary, text: op, typ: typ{kind: kBoolean}, pos: pos, kids: []*node{left, right}, eval: func(r *row) value {
		a, b := left.eval(r), right.eval(r)
		switch {
		case !a.null && !b.null:
			return boolean(holds(op, compareValues(t, a, b)))
		case op == "<=>":
			return boolean(a.null && b.null)
		}
		return null
	}}), nil
}

func (c *checker) negation(n *node, negated bool) *node {
	if !negated {
		return n
	}
	return c.make(node{form: fNot, typ: n.typ, pos: n.pos, kids: []*node{n}, eval: func(r *row) value {
		v := n.eval(r)
		if !v.null {
			v.i = 1 - v.i
		}
		return v
	}})
}

func (c *checker) between(e *expr, kids []*node) (*node, error) {
	low, err := c.compare(">=", e.pos, kids[0], kids[1])
	if err != nil {
		return nil, err
	}
	high, err := c.compare("<=", e.pos, kids[0], kids[2])
	if err != nil {
		return nil, err
	}
	both, err := c.logic(&expr{form: fAnd, pos: e.pos}, []*node{low, high})
	if err != nil {
		return nil, err
	}
	return c.negation(both, e.negated), nil
}

// in checks a list. Unlike a comparison it casts to the widest of all types:
// a string in it makes everything a string.
func (c *checker) in(e *expr, kids []*node) (*node, error) {
	types := make([]typ, len(kids))
	for i, k := range kids {
		types[i] = k.typ
	}
	t, ok := widest(types)
	if !ok {
		return nil, faultf(e.pos, "the value and the list of IN have no common type: %s", typeList(types)).fix("CAST them to one type.")
	}
	if t.kind == kString && kids[0].typ.kind != kString && kids[0].typ.kind != kNull {
		if err := c.readableList(kids); err != nil {
			return nil, err
		}
	}
	for i := range kids {
		var err error
		if kids[i], err = c.implicit(kids[i], t, e.pos); err != nil {
			return nil, err
		}
	}
	n := c.make(node{form: fIn, typ: typ{kind: kBoolean}, pos: e.pos, kids: kids, eval: func(r *row) value {
		v := kids[0].eval(r)
		if v.null {
			return null
		}
		out := boolean(false)
		for _, k := range kids[1:] {
			switch other := k.eval(r); {
			case other.null:
				out = null
			case compareValues(t, v, other) == 0:
				return boolean(true)
			}
		}
		return out
	}})
	return c.negation(n, e.negated), nil
}

// readableList refuses string literals in the list of a column that isn't a
// string where the text isn't how that type is written: '07' never equals 7,
// and Spark would silently find nothing.
func (c *checker) readableList(kids []*node) error {
	for _, k := range kids[1:] {
		if !k.literal || k.typ.kind != kString {
			continue
		}
		back := castTo(typ{kind: kString}, kids[0].typ, c.zone())
		if back == nil {
			continue
		}
		r := row{}
		if v := back(&r, k.value); v.null || r.doubt || format(v, kids[0].typ, c.zone()) != k.value.s {
			return faultf(k.pos, "'%s' isn't how a %s is written, so it equals none", k.value.s, kids[0].typ).fix("Write the values without quotes, or as DATE '…' and TIMESTAMP '…'.")
		}
	}
	return nil
}
