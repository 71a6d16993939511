package predicate

import (
	"fmt"
	"strconv"
	"strings"
)

// kind is the family of a type. The order of the numbers is Spark's order of
// widening.
type kind uint8

const (
	kNull kind = iota
	kBoolean
	kByte
	kShort
	kInt
	kLong
	kDecimal
	kFloat
	kDouble
	kString
	kBinary
	kDate
	kTimestamp    // an instant
	kTimestampNTZ // a wall clock
)

// typ is a type of Spark SQL. precision and scale belong to decimals.
type typ struct {
	kind             kind
	precision, scale int
}

const maxPrecision = 38 // of a decimal

var kindNames = [...]string{"void", "boolean", "tinyint", "smallint", "int", "bigint", "decimal", "float", "double",
	"string", "binary", "date", "timestamp", "timestamp_ntz"}

func (t typ) String() string {
	if t.kind == kDecimal {
		return fmt.Sprintf("decimal(%d,%d)", t.precision, t.scale)
	}
	return kindNames[t.kind]
}

func (t typ) integral() bool { return t.kind >= kByte && t.kind <= kLong }
func (t typ) floating() bool { return t.kind == kFloat || t.kind == kDouble }
func (t typ) numeric() bool  { return t.kind >= kByte && t.kind <= kDouble }
func (t typ) datetime() bool { return t.kind >= kDate }

// typeNames holds the names that Delta's schema and SQL's CAST use.
var typeNames = map[string]kind{
	"boolean": kBoolean, "byte": kByte, "tinyint": kByte, "short": kShort, "smallint": kShort, "integer": kInt, "int": kInt,
	"long": kLong, "bigint": kLong, "float": kFloat, "real": kFloat, "double": kDouble, "string": kString, "binary": kBinary,
	"date": kDate, "timestamp": kTimestamp, "timestamp_ltz": kTimestamp, "timestamp_ntz": kTimestampNTZ,
}

// parseType reads the name of a type, "decimal(10,2)" included.
func parseType(s string) (typ, bool) {
	name := strings.ToLower(strings.TrimSpace(s))
	if k, ok := typeNames[name]; ok {
		return typ{kind: k}, true
	}
	base, args, hasArgs := strings.Cut(name, "(")
	switch strings.TrimSpace(base) {
	case "decimal", "dec", "numeric":
	default:
		return typ{}, false
	}
	if !hasArgs {
		return decimalType(10, 0)
	}
	args, ok := strings.CutSuffix(args, ")")
	precision, scale, hasScale := strings.Cut(args, ",")
	p, err := strconv.Atoi(strings.TrimSpace(precision))
	if !ok || err != nil {
		return typ{}, false
	}
	n := 0
	if hasScale {
		if n, err = strconv.Atoi(strings.TrimSpace(scale)); err != nil {
			return typ{}, false
		}
	}
	return decimalType(p, n)
}

func decimalType(precision, scale int) (typ, bool) {
	ok := precision >= 1 && precision <= maxPrecision && scale >= 0 && scale <= precision
	return typ{kind: kDecimal, precision: precision, scale: scale}, ok
}

// bounded cuts a decimal's size to what Spark allows.
func bounded(precision, scale int) typ {
	return typ{kind: kDecimal, precision: min(precision, maxPrecision), scale: min(scale, maxPrecision)}
}

// adjusted is the decimal of an arithmetic result: digits after the point give
// way to those before it, down to six.
//
// Source: DecimalType.adjustPrecisionScale of Spark 3.5.
func adjusted(precision, scale int) typ {
	if precision <= maxPrecision {
		return typ{kind: kDecimal, precision: precision, scale: scale}
	}
	whole := precision - scale
	return typ{kind: kDecimal, precision: maxPrecision, scale: max(maxPrecision-whole, min(scale, 6))}
}

// decimalFor is the decimal that holds every value of an integral type.
func decimalFor(t typ) typ {
	switch t.kind {
	case kByte:
		return bounded(3, 0)
	case kShort:
		return bounded(5, 0)
	case kInt:
		return bounded(10, 0)
	case kLong:
		return bounded(20, 0)
	}
	return t
}

// tightest is the type that both sides widen to without loss of kind.
//
// Source: TypeCoercion.findTightestCommonType of Spark 3.5.
func tightest(a, b typ) (typ, bool) {
	switch {
	case a == b, b.kind == kNull:
		return a, true
	case a.kind == kNull:
		return b, true
	case a.integral() && b.kind == kDecimal:
		d := decimalFor(a)
		return b, b.precision-b.scale >= d.precision
	case b.integral() && a.kind == kDecimal:
		return tightest(b, a)
	case a.numeric() && b.numeric() && a.kind != kDecimal && b.kind != kDecimal:
		return typ{kind: max(a.kind, b.kind)}, true
	case a.datetime() && b.datetime():
		if a.kind == kTimestampNTZ && b.kind == kDate || a.kind == kDate && b.kind == kTimestampNTZ {
			return typ{kind: kTimestampNTZ}, true
		}
		return typ{kind: kTimestamp}, true
	}
	return typ{}, false
}

// wider is the common type of branches and lists: CASE, coalesce, IN.
//
// Source: TypeCoercion.findWiderTypeForTwo of Spark 3.5.
func wider(a, b typ) (typ, bool) {
	if t, ok := tightest(a, b); ok {
		return t, true
	}
	switch {
	case a.kind == kDecimal && b.floating(), b.kind == kDecimal && a.floating():
		return typ{kind: kDouble}, true
	case a.numeric() && b.numeric(): // one is a decimal
		a, b = decimalFor(a), decimalFor(b)
		return widerDecimal(a, b), true
	case a.kind == kString && b.kind != kBinary && b.kind != kBoolean, b.kind == kString && a.kind != kBinary && a.kind != kBoolean:
		return typ{kind: kString}, true
	}
	return typ{}, false
}

func widerDecimal(a, b typ) typ {
	scale := max(a.scale, b.scale)
	return bounded(max(a.precision-a.scale, b.precision-b.scale)+scale, scale)
}

// widest folds wider over many types, strings first as Spark does, for it is not associative.
func widest(types []typ) (typ, bool) {
	common, ok := typ{}, true
	for _, strings := range []bool{true, false} {
		for _, t := range types {
			if (t.kind == kString) == strings && ok {
				common, ok = wider(common, t)
			}
		}
	}
	return common, ok
}

// comparableType is the type that both sides of a comparison are cast to.
//
// Source: TypeCoercion.findCommonTypeForBinaryComparison and DecimalPrecision of Spark 3.5.
func comparableType(a, b typ) (typ, bool) {
	switch {
	case a.kind == kString && b.kind == kDecimal, a.kind == kDecimal && b.kind == kString:
		return typ{kind: kDouble}, true
	case a.kind == kString && b.kind != kNull:
		return b, true
	case b.kind == kString && a.kind != kNull:
		return a, true
	case a.kind == kDecimal && b.floating(), b.kind == kDecimal && a.floating():
		return typ{kind: kDouble}, true
	case a.kind == kDecimal && b.numeric(), b.kind == kDecimal && a.numeric():
		a, b = decimalFor(a), decimalFor(b)
		return widerDecimal(a, b), true
	}
	return tightest(a, b)
}
