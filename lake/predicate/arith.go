package predicate

import (
	"math"
	"math/big"
)

// binary checks comparisons, || and arithmetic.
func (c *checker) binary(op string, pos int, left, right *node) (*node, error) {
	switch op {
	case "||":
		return c.concat(pos, []*node{left, right})
	case "+", "-", "*", "/", "%":
		if left.typ.kind == kDate || right.typ.kind == kDate {
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
func (c *checker) arithmetic(op string, pos int, left, right *node) (*node, error) {
	kids := []*node{left, right}
	double := typ{kind: kDouble}
	for i, k := range kids {
		var err error
		switch {
		case k.typ.kind == kString:
			if kids[i], err = c.implicit(k, double, pos); err != nil {
				return nil, err
			}
		case !k.typ.numeric() && k.typ.kind != kNull:
			return nil, faultf(pos, "can't compute with a %s", k.typ).fix("CAST it to a number; for dates use date_add, date_sub or datediff.")
		}
	}
	left, right = kids[0], kids[1]
	decimals := left.typ.kind == kDecimal || right.typ.kind == kDecimal && (left.typ.kind != kNull || op != "/")
	if decimals && !left.typ.floating() && !right.typ.floating() {
		return c.decimalArithmetic(op, pos, left, right)
	}
	t, ok := tightest(left.typ, right.typ)
	if op == "/" || decimals || !ok || t.kind == kNull {
		t = double
	}
	left, err := c.implicit(left, t, pos)
	if err != nil {
		return nil, err
	}
	if right, err = c.implicit(right, t, pos); err != nil {
		return nil, err
	}
	compute := floatArithmetic(op, t)
	if t.integral() {
		compute = integralArithmetic(op, t)
	}
	return c.strict(op, t, pos, []*node{left, right}, func(r *row, v []value) value { return compute(r, v[0], v[1]) }), nil
}

// strict makes a node that is NULL where one of its kids is.
func (c *checker) strict(text string, t typ, pos int, kids []*node, eval func(r *row, v []value) value) *node {
	return c.make(node{form: fCall, text: text, typ: t, pos: pos, kids: kids, eval: func(r *row) value {
		var few [3]value
		v := few[:0]
		for _, k := range kids {
			x := k.eval(r)
			if x.null {
				return null
			}
			v = append(v, x)
		}
		return eval(r, v)
	}})
}

func integralArithmetic(op string, t typ) func(r *row, a, b value) value {
	low, high := integralRange(t)
	return func(r *row, a, b value) value {
		x, y := a.i, b.i
		out, ok := int64(0), true
		switch op {
		case "+":
			out = x + y
			ok = (out > x) == (y > 0)
		case "-":
			out = x - y
			ok = (out < x) == (y > 0)
		case "*":
			out = x * y
			ok = x == 0 || out/x == y && (x != -1 || y != math.MinInt64)
		case "%":
			if y == 0 {
				return null
			}
			out = x % y
		}
		if !ok || out < low || out > high {
			r.doubt = true
			return null
		}
		return value{i: out}
	}
}

func floatArithmetic(op string, t typ) func(r *row, a, b value) value {
	return func(_ *row, a, b value) value {
		var f float64
		switch op {
		case "+":
			f = a.f + b.f
		case "-":
			f = a.f - b.f
		case "*":
			f = a.f * b.f
		case "/", "%":
			if b.f == 0 {
				return null
			}
			if f = a.f / b.f; op == "%" {
				f = math.Mod(a.f, b.f)
			}
		}
		if t.kind == kFloat {
			f = float64(float32(f))
		}
		return value{f: f}
	}
}

// decimalOf is the decimal that an integral operand becomes: of a literal, one
// that just holds it.
func decimalOf(n *node) typ {
	if n.literal && n.typ.integral() {
		return bounded(digitCount(big.NewInt(n.value.i)), 0)
	}
	return decimalFor(n.typ)
}

func (c *checker) decimalArithmetic(op string, pos int, left, right *node) (*node, error) {
	a, b := decimalOf(left), decimalOf(right)
	switch { // NULL takes the other's type
	case a.kind == kNull:
		a = b
	case b.kind == kNull:
		b = a
	}
	left, err := c.implicit(left, a, pos)
	if err != nil {
		return nil, err
	}
	if right, err = c.implicit(right, b, pos); err != nil {
		return nil, err
	}
	scale := max(a.scale, b.scale)
	var t typ
	switch op {
	case "+", "-":
		t = adjusted(max(a.precision-a.scale, b.precision-b.scale)+scale+1, scale)
	case "*":
		t = adjusted(a.precision+b.precision+1, a.scale+b.scale)
	case "/":
		digits := max(6, a.scale+b.precision+1)
		t = adjusted(a.precision-a.scale+b.scale+digits, digits)
	case "%":
		t = adjusted(min(a.precision-a.scale, b.precision-b.scale)+scale, scale)
	}
	return c.strict(op, t, pos, []*node{left, right}, func(_ *row, v []value) value {
		x, y := v[0].d, v[1].d
		switch op {
		case "*":
			return toDecimal(new(big.Int).Mul(x, y), a.scale+b.scale, t)
		case "/":
			if y.Sign() == 0 {
				return null
			}
			quotient := divideHalfUp(new(big.Int).Mul(x, pow10(maxPrecision-a.scale+b.scale)), y)
			return toDecimal(quotient, maxPrecision, t)
		}
		x, y = rescale(x, a.scale, scale), rescale(y, b.scale, scale)
		switch op {
		case "+":
			x = x.Add(x, y)
		case "-":
			x = x.Sub(x, y)
		case "%":
			if y.Sign() == 0 {
				return null
			}
			x = x.Rem(x, y)
		}
		return toDecimal(x, scale, t)
	}), nil
}

func (c *checker) negate(e *expr, kid *node) (*node, error) {
	if kid.typ.kind == kString || kid.typ.kind == kNull {
		var err error
		if kid, err = c.implicit(kid, typ{kind: kDouble}, e.pos); err != nil {
			return nil, err
		}
	}
	t := kid.typ
	if !t.numeric() {
		return nil, faultf(e.pos, "can't negate a %s", t)
	}
	low, _ := integralRange(typ{kind: kLong})
	if t.integral() {
		low, _ = integralRange(t)
	}
	return c.strict("-", t, e.pos, []*node{kid}, func(r *row, v []value) value {
		switch {
		case t.floating():
			return value{f: -v[0].f}
		case t.kind == kDecimal:
			return value{d: new(big.Int).Neg(v[0].d)}
		case v[0].i == low:
			r.doubt = true
			return null
		}
		return value{i: -v[0].i}
	}), nil
}

// dateArithmetic is a date plus or minus whole days.
func (c *checker) dateArithmetic(op string, pos int, left, right *node) (*node, error) {
	switch {
	case op == "+" && left.typ.integral():
		return c.addDays(pos, right, left, 1)
	case op == "+" && right.typ.integral():
		return c.addDays(pos, left, right, 1)
	case op == "-" && left.typ.kind == kDate && right.typ.integral():
		return c.addDays(pos, left, right, -1)
	}
	return nil, faultf(pos, "can't compute %s %s %s", left.typ, op, right.typ).fix("Days between two dates are datediff(later, earlier).")
}

// addDays moves a date by n days.
func (c *checker) addDays(pos int, date, n *node, sign int64) (*node, error) {
	n, err := c.implicit(n, typ{kind: kInt}, pos)
	if err != nil {
		return nil, err
	}
	return c.strict("date_add", typ{kind: kDate}, pos, []*node{date, n}, func(r *row, v []value) value {
		days := v[0].i + sign*v[1].i
		if days != int64(int32(days)) {
			r.doubt = true
			return null
		}
		return value{i: days}
	}), nil
}
