package expr

import (
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// binary checks comparisons, || and arithmetic.
func (c *checker) binary(op string, pos int, left, right *Node) (*Node, error) {
	switch op {
	case "||":
		return c.concat(pos, []*Node{left, right})
	case "+", "-", "*", "/", "%":
		if left.Type.Kind == sql.Date || right.Type.Kind == sql.Date {
			return c.dateArithmetic(op, pos, left, right)
		}
		return c.arithmetic(op, pos, left, right)
	}
	return c.compare(op, pos, left, right)
}

// arithmetic brings both sides to one type, decimals each to a decimal.
//
// Source: TypeCoercion (PromoteStrings, Division, ImplicitTypeCasts) and
// DecimalPrecision of Spark 3.5.
func (c *checker) arithmetic(op string, pos int, left, right *Node) (*Node, error) {
	kids := []*Node{left, right}
	double := sql.Type{Kind: sql.Double}
	for i, k := range kids {
		var err error
		switch {
		case k.Type.Kind == sql.String:
			if kids[i], err = c.implicit(k, double, pos); err != nil {
				return nil, err
			}
		case !k.Type.Numeric() && k.Type.Kind != sql.Void:
			return nil, syntax.Faultf(pos, "can't compute with a %s", k.Type).Fix("CAST it to a number; for dates use date_add, date_sub or datediff.")
		}
	}
	left, right = kids[0], kids[1]
	decimals := left.Type.Kind == sql.Decimal || right.Type.Kind == sql.Decimal && (left.Type.Kind != sql.Void || op != "/")
	if decimals && !left.Type.Floating() && !right.Type.Floating() {
		return c.decimals(op, pos, left, right)
	}
	t, ok := sql.Tightest(left.Type, right.Type)
	if op == "/" || decimals || !ok || t.Kind == sql.Void {
		t = double
	}
	left, err := c.implicit(left, t, pos)
	if err != nil {
		return nil, err
	}
	if right, err = c.implicit(right, t, pos); err != nil {
		return nil, err
	}
	compute := sql.Arithmetic(op, t)
	return c.strict(op, t, pos, []*Node{left, right}, func(r *Row, v []sql.Value) sql.Value { return compute(&r.Doubt, v[0], v[1]) }), nil
}

// decimalOf is the decimal that an integral operand becomes: of a literal, one
// that just holds it.
func decimalOf(n *Node) sql.Type {
	if n.literal && n.Type.Integral() {
		return sql.DecimalHolding(n.Value.I)
	}
	return sql.DecimalFor(n.Type)
}

func (c *checker) decimals(op string, pos int, left, right *Node) (*Node, error) {
	a, b := decimalOf(left), decimalOf(right)
	switch { // NULL takes the other's type
	case a.Kind == sql.Void:
		a = b
	case b.Kind == sql.Void:
		b = a
	}
	left, err := c.implicit(left, a, pos)
	if err != nil {
		return nil, err
	}
	if right, err = c.implicit(right, b, pos); err != nil {
		return nil, err
	}
	t, compute := sql.DecimalArithmetic(op, a, b)
	return c.strict(op, t, pos, []*Node{left, right}, func(_ *Row, v []sql.Value) sql.Value { return compute(v[0], v[1]) }), nil
}

func (c *checker) negate(e *syntax.Expr, kid *Node) (*Node, error) {
	if kid.Type.Kind == sql.String || kid.Type.Kind == sql.Void {
		var err error
		if kid, err = c.implicit(kid, sql.Type{Kind: sql.Double}, e.Pos); err != nil {
			return nil, err
		}
	}
	t := kid.Type
	if !t.Numeric() {
		return nil, syntax.Faultf(e.Pos, "can't negate a %s", t)
	}
	opposite := sql.Negated(t)
	return c.strict("-", t, e.Pos, []*Node{kid}, func(r *Row, v []sql.Value) sql.Value { return opposite(&r.Doubt, v[0]) }), nil
}

// dateArithmetic is a date plus or minus whole days.
func (c *checker) dateArithmetic(op string, pos int, left, right *Node) (*Node, error) {
	switch {
	case op == "+" && left.Type.Integral():
		return c.addDays(pos, right, left, 1)
	case op == "+" && right.Type.Integral():
		return c.addDays(pos, left, right, 1)
	case op == "-" && left.Type.Kind == sql.Date && right.Type.Integral():
		return c.addDays(pos, left, right, -1)
	}
	return nil, syntax.Faultf(pos, "can't compute %s %s %s", left.Type, op, right.Type).Fix("Days between two dates are datediff(later, earlier).")
}

// addDays moves a date by n days.
func (c *checker) addDays(pos int, date, n *Node, sign int64) (*Node, error) {
	n, err := c.implicit(n, sql.Type{Kind: sql.Int}, pos)
	if err != nil {
		return nil, err
	}
	return c.strict("date_add", sql.Type{Kind: sql.Date}, pos, []*Node{date, n}, func(r *Row, v []sql.Value) sql.Value {
		days := v[0].I + sign*v[1].I
		if days != int64(int32(days)) {
			return r.Doubt.Raise()
		}
		return sql.Value{I: days}
	}), nil
}
