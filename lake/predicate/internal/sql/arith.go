package sql

import (
	"math"
	"math/big"
)

// Arithmetic is + - * / and % of two values of a type that is no decimal, neither
// of them NULL. Integral types know no /.
func Arithmetic(op string, t Type) func(d *Doubt, a, b Value) Value {
	if t.Integral() {
		return integralArithmetic(op, t)
	}
	return floatArithmetic(op, t)
}

func integralArithmetic(op string, t Type) func(d *Doubt, a, b Value) Value {
	low, high := integralRange(t)
	return func(d *Doubt, a, b Value) Value {
		x, y := a.I, b.I
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
				return Null
			}
			out = x % y
		}
		if !ok || out < low || out > high {
			return d.Raise()
		}
		return Value{I: out}
	}
}

func floatArithmetic(op string, t Type) func(d *Doubt, a, b Value) Value {
	return func(_ *Doubt, a, b Value) Value {
		var f float64
		switch op {
		case "+":
			f = a.F + b.F
		case "-":
			f = a.F - b.F
		case "*":
			f = a.F * b.F
		case "/", "%":
			if b.F == 0 {
				return Null
			}
			if f = a.F / b.F; op == "%" {
				f = math.Mod(a.F, b.F)
			}
		}
		if t.Kind == Float {
			f = float64(float32(f))
		}
		return Value{F: f}
	}
}

// DecimalArithmetic is + - * / and % of two decimals, neither NULL, and the type
// of the result.
//
// Source: DecimalPrecision of Spark 3.5.
func DecimalArithmetic(op string, a, b Type) (Type, func(x, y Value) Value) {
	scale := max(a.Scale, b.Scale)
	var t Type
	switch op {
	case "+", "-":
		t = adjusted(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale+1, scale)
	case "*":
		t = adjusted(a.Precision+b.Precision+1, a.Scale+b.Scale)
	case "/":
		digits := max(6, a.Scale+b.Precision+1)
		t = adjusted(a.Precision-a.Scale+b.Scale+digits, digits)
	case "%":
		t = adjusted(min(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
	}
	return t, func(left, right Value) Value {
		x, y := left.D, right.D
		switch op {
		case "*":
			return toDecimal(new(big.Int).Mul(x, y), a.Scale+b.Scale, t)
		case "/":
			if y.Sign() == 0 {
				return Null
			}
			quotient := divideHalfUp(new(big.Int).Mul(x, pow10(MaxPrecision-a.Scale+b.Scale)), y)
			return toDecimal(quotient, MaxPrecision, t)
		}
		x, y = rescale(x, a.Scale, scale), rescale(y, b.Scale, scale)
		switch op {
		case "+":
			x = x.Add(x, y)
		case "-":
			x = x.Sub(x, y)
		case "%":
			if y.Sign() == 0 {
				return Null
			}
			x = x.Rem(x, y)
		}
		return toDecimal(x, scale, t)
	}
}

// Negated is the minus before a number that isn't NULL.
func Negated(t Type) func(d *Doubt, v Value) Value {
	switch {
	case t.Floating():
		return func(_ *Doubt, v Value) Value { return Value{F: -v.F} }
	case t.Kind == Decimal:
		return func(_ *Doubt, v Value) Value { return Value{D: new(big.Int).Neg(v.D)} }
	}
	low, _ := integralRange(t)
	return func(d *Doubt, v Value) Value {
		if v.I == low {
			return d.Raise()
		}
		return Value{I: -v.I}
	}
}
