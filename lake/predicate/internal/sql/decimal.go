package sql

import (
	"math/big"
	"strconv"
	"strings"
)

var ten = big.NewInt(10)

func pow10(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// digitCount is the number of decimal digits, 1 for zero.
func digitCount(d *big.Int) int {
	return len(new(big.Int).Abs(d).String())
}

// rescale moves d from one scale to another, rounding half away from zero.
func rescale(d *big.Int, from, to int) *big.Int {
	if to >= from {
		return new(big.Int).Mul(d, pow10(to-from))
	}
	return divideHalfUp(d, pow10(from-to))
}

// divideHalfUp divides a by b, rounding half away from zero. b isn't zero.
func divideHalfUp(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(b) >= 0 {
		if a.Sign()*b.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

// toDecimal fits d, of the scale given, into t: NULL where it has too many digits.
func toDecimal(d *big.Int, scale int, t Type) Value {
	d = rescale(d, scale, t.Scale)
	if digitCount(d) > t.Precision {
		return Null
	}
	return Value{D: d}
}

// parseDecimal reads [±]digits[.digits][e[±]digits]. The scale may be negative.
// Numbers of more than 1,000 digits or exponents of more than 4 are refused.
func parseDecimal(s string) (unscaled *big.Int, scale int, ok bool) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e := s[i+1:]
		if n := strings.TrimLeft(e, "+-"); len(e)-len(n) > 1 || n == "" || len(n) > 4 {
			return nil, 0, false
		}
		var err error
		if exponent, err = strconv.Atoi(e); err != nil {
			return nil, 0, false
		}
		mantissa = s[:i]
	}
	sign := ""
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		sign, mantissa = mantissa[:1], mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || len(all) > 1000 || strings.Trim(all, "0123456789") != "" {
		return nil, 0, false
	}
	unscaled, ok = new(big.Int).SetString(sign+all, 10)
	return unscaled, len(fraction) - exponent, ok
}

// DecimalLiteral reads a number as the decimal that just holds it.
func DecimalLiteral(s string) (Type, Value, bool) {
	unscaled, scale, ok := parseDecimal(s)
	if ok && scale < 0 {
		unscaled, scale = new(big.Int).Mul(unscaled, pow10(-scale)), 0
	}
	if !ok || scale > MaxPrecision || max(digitCount(unscaled), scale) > MaxPrecision {
		return Type{}, Null, false
	}
	return Type{Kind: Decimal, Precision: max(digitCount(unscaled), scale), Scale: scale}, Value{D: unscaled}, true
}

// formatDecimal writes a decimal as java.math.BigDecimal.toString does.
func formatDecimal(d *big.Int, scale int) string {
	s := new(big.Int).Abs(d).String()
	sign := ""
	if d.Sign() < 0 {
		sign = "-"
	}
	exponent := len(s) - 1 - scale
	switch {
	case scale == 0:
		return sign + s
	case exponent < -6:
		if len(s) > 1 {
			s = s[:1] + "." + s[1:]
		}
		return sign + s + "E" + strconv.Itoa(exponent)
	case len(s) <= scale:
		return sign + "0." + strings.Repeat("0", scale-len(s)) + s
	}
	return sign + s[:len(s)-scale] + "." + s[len(s)-scale:]
}

func decimalFloat(d *big.Int, scale int) float64 {
	f, _ := strconv.ParseFloat(d.String()+"e"+strconv.Itoa(-scale), 64) // out of range is ±Inf, as in Java
	return f
}
