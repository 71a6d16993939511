package sql

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Kind is the family of a type. The order of the numbers is Spark's order of
// widening.
type Kind uint8

// The kinds, from the narrowest.
const (
	Void Kind = iota
	Boolean
	Byte
	Short
	Int
	Long
	Decimal
	Float
	Double
	String
	Binary
	Date
	Timestamp    // an instant
	TimestampNTZ // a wall clock
)

// Type is a type of Spark SQL. Precision and Scale belong to decimals.
type Type struct {
	Kind             Kind
	Precision, Scale int
}

// MaxPrecision is the most digits of a decimal.
const MaxPrecision = 38

var kindNames = [...]string{"void", "boolean", "tinyint", "smallint", "int", "bigint", "decimal", "float", "double",
	"string", "binary", "date", "timestamp", "timestamp_ntz"}

// String returns the name that messages use.
func (t Type) String() string {
	if t.Kind == Decimal {
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return kindNames[t.Kind]
}

// Integral reports whole numbers of a fixed width.
func (t Type) Integral() bool { return t.Kind >= Byte && t.Kind <= Long }

// Floating reports floats and doubles.
func (t Type) Floating() bool { return t.Kind == Float || t.Kind == Double }

// Numeric reports all numbers.
func (t Type) Numeric() bool { return t.Kind >= Byte && t.Kind <= Double }

// Datetime reports dates and times.
func (t Type) Datetime() bool { return t.Kind >= Date }

// typeNames holds the names that Delta's schema and SQL's CAST use.
var typeNames = map[string]Kind{
	"boolean": Boolean, "byte": Byte, "tinyint": Byte, "short": Short, "smallint": Short, "integer": Int, "int": Int,
	"long": Long, "bigint": Long, "float": Float, "real": Float, "double": Double, "string": String, "binary": Binary,
	"date": Date, "timestamp": Timestamp, "timestamp_ltz": Timestamp, "timestamp_ntz": TimestampNTZ,
}

// ParseType reads the name of a type, "decimal(10,2)" included.
func ParseType(s string) (Type, bool) {
	name := strings.ToLower(strings.TrimSpace(s))
	if k, ok := typeNames[name]; ok {
		return Type{Kind: k}, true
	}
	base, args, hasArgs := strings.Cut(name, "(")
	switch strings.TrimSpace(base) {
	case "decimal", "dec", "numeric":
	default:
		return Type{}, false
	}
	if !hasArgs {
		return decimalType(10, 0)
	}
	args, ok := strings.CutSuffix(args, ")")
	precision, scale, hasScale := strings.Cut(args, ",")
	p, err := strconv.Atoi(strings.TrimSpace(precision))
	if !ok || err != nil {
		return Type{}, false
	}
	n := 0
	if hasScale {
		if n, err = strconv.Atoi(strings.TrimSpace(scale)); err != nil {
			return Type{}, false
		}
	}
	return decimalType(p, n)
}

func decimalType(precision, scale int) (Type, bool) {
	ok := precision >= 1 && precision <= MaxPrecision && scale >= 0 && scale <= precision
	return Type{Kind: Decimal, Precision: precision, Scale: scale}, ok
}

// bounded cuts a decimal's size to what Spark allows.
func bounded(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: min(precision, MaxPrecision), Scale: min(scale, MaxPrecision)}
}

// adjusted is the decimal of an arithmetic result: digits after the point give
// way to those before it, down to six.
//
// Source: DecimalType.adjustPrecisionScale of Spark 3.5.
func adjusted(precision, scale int) Type {
	if precision <= MaxPrecision {
		return Type{Kind: Decimal, Precision: precision, Scale: scale}
	}
	whole := precision - scale
	return Type{Kind: Decimal, Precision: MaxPrecision, Scale: max(MaxPrecision-whole, min(scale, 6))}
}

// DecimalFor is the decimal that holds every value of an integral type.
func DecimalFor(t Type) Type {
	switch t.Kind {
	case Byte:
		return bounded(3, 0)
	case Short:
		return bounded(5, 0)
	case Int:
		return bounded(10, 0)
	case Long:
		return bounded(20, 0)
	}
	return t
}

// DecimalHolding is the decimal that just holds n.
func DecimalHolding(n int64) Type { return bounded(digitCount(big.NewInt(n)), 0) }

// Tightest is the type that both sides widen to without loss of kind.
//
// Source: TypeCoercion.findTightestCommonType of Spark 3.5.
func Tightest(a, b Type) (Type, bool) {
	switch {
	case a == b, b.Kind == Void:
		return a, true
	case a.Kind == Void:
		return b, true
	case a.Integral() && b.Kind == Decimal:
		d := DecimalFor(a)
		return b, b.Precision-b.Scale >= d.Precision
	case b.Integral() && a.Kind == Decimal:
		return Tightest(b, a)
	case a.Numeric() && b.Numeric() && a.Kind != Decimal && b.Kind != Decimal:
		return Type{Kind: max(a.Kind, b.Kind)}, true
	case a.Datetime() && b.Datetime():
		if a.Kind == TimestampNTZ && b.Kind == Date || a.Kind == Date && b.Kind == TimestampNTZ {
			return Type{Kind: TimestampNTZ}, true
		}
		return Type{Kind: Timestamp}, true
	}
	return Type{}, false
}

// wider is the common type of branches and lists: CASE, coalesce, IN.
//
// Source: TypeCoercion.findWiderTypeForTwo of Spark 3.5.
func wider(a, b Type) (Type, bool) {
	if t, ok := Tightest(a, b); ok {
		return t, true
	}
	switch {
	case a.Kind == Decimal && b.Floating(), b.Kind == Decimal && a.Floating():
		return Type{Kind: Double}, true
	case a.Numeric() && b.Numeric(): // one is a decimal
		a, b = DecimalFor(a), DecimalFor(b)
		return widerDecimal(a, b), true
	case a.Kind == String && b.Kind != Binary && b.Kind != Boolean, b.Kind == String && a.Kind != Binary && a.Kind != Boolean:
		return Type{Kind: String}, true
	}
	return Type{}, false
}

func widerDecimal(a, b Type) Type {
	scale := max(a.Scale, b.Scale)
	return bounded(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
}

// Widest folds wider over many types, strings first as Spark does, for it is not associative.
func Widest(types []Type) (Type, bool) {
	common, ok := Type{}, true
	for _, strings := range []bool{true, false} {
		for _, t := range types {
			if (t.Kind == String) == strings && ok {
				common, ok = wider(common, t)
			}
		}
	}
	return common, ok
}

// Comparable is the type that both sides of a comparison are cast to.
//
// Source: TypeCoercion.findCommonTypeForBinaryComparison and DecimalPrecision of Spark 3.5.
func Comparable(a, b Type) (Type, bool) {
	switch {
	case a.Kind == String && b.Kind == Decimal, a.Kind == Decimal && b.Kind == String:
		return Type{Kind: Double}, true
	case a.Kind == String && b.Kind != Void:
		return b, true
	case b.Kind == String && a.Kind != Void:
		return a, true
	case a.Kind == Decimal && b.Floating(), b.Kind == Decimal && a.Floating():
		return Type{Kind: Double}, true
	case a.Kind == Decimal && b.Numeric(), b.Kind == Decimal && a.Numeric():
		a, b = DecimalFor(a), DecimalFor(b)
		return widerDecimal(a, b), true
	}
	return Tightest(a, b)
}
