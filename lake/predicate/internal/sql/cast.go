package sql

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
)

// Caster turns a value, not NULL, of one type into another. It raises a
// doubt where Spark would wrap around or saturate.
type Caster func(d *Doubt, v Value) Value

// Cast returns the cast between two types, nil if there is none. Casts of
// Spark that no partition filter means (date to boolean, number to binary, …)
// are left out.
//
// Source: Cast.scala of Spark 3.5, ANSI mode off.
func Cast(from, to Type, zone *time.Location) Caster {
	switch {
	case from == to:
		return func(_ *Doubt, v Value) Value { return v }
	case from.Kind == Void:
		return func(*Doubt, Value) Value { return Null }
	}
	switch to.Kind {
	case String:
		return func(d *Doubt, v Value) Value {
			s := Format(v, from, zone)
			if !utf8.ValidString(s) { // bytes that are no text
				return d.Raise()
			}
			return Value{S: s}
		}
	case Binary:
		if from.Kind == String {
			return func(_ *Doubt, v Value) Value { return v }
		}
	case Boolean:
		return castBoolean(from)
	case Byte, Short, Int, Long:
		return castIntegral(from, to)
	case Float, Double:
		return castFloat(from, to)
	case Decimal:
		return castDecimal(from, to)
	case Date, Timestamp, TimestampNTZ:
		return castDatetime(from, to, zone)
	}
	return nil
}

// Format is the cast to string.
func Format(v Value, t Type, zone *time.Location) string {
	switch t.Kind {
	case Boolean:
		return strconv.FormatBool(v.I != 0)
	case Byte, Short, Int, Long:
		return strconv.FormatInt(v.I, 10)
	case Float:
		return formatFloat(v.F, 32)
	case Double:
		return formatFloat(v.F, 64)
	case Decimal:
		return formatDecimal(v.D, t.Scale)
	case Date:
		return calendar.FormatDate(v.I)
	case Timestamp:
		return calendar.FormatTimestamp(calendar.WallTime(v.I, zone))
	case TimestampNTZ:
		return calendar.FormatTimestamp(calendar.WallTime(v.I, time.UTC))
	}
	return v.S
}

// formatFloat writes a number as Java does: plain from 0.001 up to 10 million,
// else with one digit before the point and an exponent.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, bits), "+") + "inity"
	case f == 0 && math.Signbit(f):
		return "-0.0"
	}
	if size := math.Abs(f); f == 0 || size >= 1e-3 && size < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	return mantissa + "E" + strconv.Itoa(n)
}

func castBoolean(from Type) Caster {
	switch {
	case from.Kind == String:
		return func(_ *Doubt, v Value) Value {
			switch strings.ToLower(calendar.TrimAll(v.S)) {
			case "t", "true", "y", "yes", "1":
				return Bool(true)
			case "f", "false", "n", "no", "0":
				return Bool(false)
			}
			return Null
		}
	case from.Integral():
		return func(_ *Doubt, v Value) Value { return Bool(v.I != 0) }
	case from.Floating():
		return func(_ *Doubt, v Value) Value { return Bool(v.F != 0) }
	case from.Kind == Decimal:
		return func(_ *Doubt, v Value) Value { return Bool(v.D.Sign() != 0) }
	}
	return nil
}

// integralRange is the least and greatest value of an integral type.
func integralRange(t Type) (int64, int64) {
	bits := map[Kind]int{Byte: 8, Short: 16, Int: 32, Long: 64}[t.Kind]
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

func castIntegral(from, to Type) Caster {
	low, high := integralRange(to)
	fit := func(d *Doubt, i int64) Value {
		if i < low || i > high {
			return d.Raise()
		}
		return Value{I: i}
	}
	switch {
	case from.Kind == String:
		return func(_ *Doubt, v Value) Value {
			i, ok := parseIntegral(v.S)
			if !ok || i < low || i > high {
				return Null
			}
			return Value{I: i}
		}
	case from.Kind == Boolean, from.Integral():
		return func(d *Doubt, v Value) Value { return fit(d, v.I) }
	case from.Floating():
		return func(d *Doubt, v Value) Value {
			f := math.Trunc(v.F)
			if math.IsNaN(f) || f < -1<<63 || f >= 1<<63 {
				return d.Raise()
			}
			return fit(d, int64(f))
		}
	case from.Kind == Decimal:
		return func(d *Doubt, v Value) Value {
			whole := new(big.Int).Quo(v.D, pow10(from.Scale))
			if !whole.IsInt64() {
				return d.Raise()
			}
			return fit(d, whole.Int64())
		}
	case from.Kind == Timestamp:
		return func(d *Doubt, v Value) Value { return fit(d, calendar.FloorDiv(v.I, calendar.MicrosPerSecond)) }
	}
	return nil
}

// parseIntegral reads a whole number; a fraction is read and dropped.
//
// Source: UTF8String.toLong of Spark 3.5.
func parseIntegral(s string) (int64, bool) {
	s = calendar.TrimAll(s)
	if s == "" || s == "+" || s == "-" {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	if whole == "" || whole == "+" || whole == "-" {
		return 0, true // Spark reads ".5" and "." as 0
	}
	i, err := strconv.ParseInt(whole, 10, 64)
	return i, err == nil
}

func castFloat(from, to Type) Caster {
	narrow := func(f float64) Value {
		if to.Kind == Float {
			f = float64(float32(f))
		}
		return Value{F: f}
	}
	switch {
	case from.Kind == String:
		bits := 64
		if to.Kind == Float {
			bits = 32
		}
		return func(_ *Doubt, v Value) Value {
			f, ok := parseFloat(v.S, bits)
			if !ok {
				return Null
			}
			return Value{F: f}
		}
	case from.Kind == Boolean, from.Integral():
		if to.Kind == Float {
			return func(_ *Doubt, v Value) Value { return Value{F: float64(float32(v.I))} }
		}
		return func(_ *Doubt, v Value) Value { return Value{F: float64(v.I)} }
	case from.Floating():
		return func(_ *Doubt, v Value) Value { return narrow(v.F) }
	case from.Kind == Decimal:
		return func(_ *Doubt, v Value) Value { return narrow(decimalFloat(v.D, from.Scale)) }
	case from.Kind == Timestamp:
		return func(_ *Doubt, v Value) Value { return narrow(float64(v.I) / calendar.MicrosPerSecond) }
	}
	return nil
}

// parseFloat reads a number as java.lang.Double.parseDouble does, hexadecimal
// ones excepted, and the words that Spark knows besides.
func parseFloat(s string, bits int) (float64, bool) {
	s = strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
	switch strings.TrimLeft(s, "+-") {
	case "inf", "infinity":
		if len(s)-len(strings.TrimLeft(s, "+-")) > 1 {
			return 0, false
		}
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case "nan":
		return math.NaN(), s == "nan"
	}
	if n := len(s); n > 1 && (s[n-1] == 'd' || s[n-1] == 'f') {
		s = s[:n-1]
	}
	if s == "" || strings.Trim(s, "0123456789.e+-") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func castDecimal(from, to Type) Caster {
	ofFloat := func(f float64) Value {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Null
		}
		d, scale, ok := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
		if !ok {
			return Null
		}
		return toDecimal(d, scale, to)
	}
	switch {
	case from.Kind == String:
		return func(_ *Doubt, v Value) Value {
			d, scale, ok := parseDecimal(strings.TrimFunc(v.S, func(r rune) bool { return r <= ' ' }))
			if !ok {
				return Null
			}
			return toDecimal(d, scale, to)
		}
	case from.Kind == Boolean, from.Integral():
		return func(_ *Doubt, v Value) Value { return toDecimal(big.NewInt(v.I), 0, to) }
	case from.Floating():
		return func(_ *Doubt, v Value) Value { return ofFloat(v.F) }
	case from.Kind == Decimal:
		return func(_ *Doubt, v Value) Value { return toDecimal(v.D, from.Scale, to) }
	}
	return nil
}

func castDatetime(from, to Type, zone *time.Location) Caster {
	switch from.Kind {
	case String:
		return castStringDatetime(to, zone)
	case Date:
		if to.Kind == Timestamp {
			return func(_ *Doubt, v Value) Value { return Value{I: calendar.FromWall(v.I*calendar.MicrosPerDay, zone)} }
		}
		return func(_ *Doubt, v Value) Value { return Value{I: v.I * calendar.MicrosPerDay} }
	case Timestamp:
		if to.Kind == Date {
			return func(_ *Doubt, v Value) Value {
				return Value{I: calendar.FloorDiv(calendar.ToWall(v.I, zone), calendar.MicrosPerDay)}
			}
		}
		return func(_ *Doubt, v Value) Value { return Value{I: calendar.ToWall(v.I, zone)} }
	case TimestampNTZ:
		if to.Kind == Date {
			return func(_ *Doubt, v Value) Value { return Value{I: calendar.FloorDiv(v.I, calendar.MicrosPerDay)} }
		}
		return func(_ *Doubt, v Value) Value { return Value{I: calendar.FromWall(v.I, zone)} }
	case Byte, Short, Int, Long:
		if to.Kind == Timestamp {
			return func(d *Doubt, v Value) Value {
				if v.I > math.MaxInt64/calendar.MicrosPerSecond || v.I < math.MinInt64/calendar.MicrosPerSecond {
					return d.Raise()
				}
				return Value{I: v.I * calendar.MicrosPerSecond}
			}
		}
	}
	return nil
}

func castStringDatetime(to Type, zone *time.Location) Caster {
	if to.Kind == Date {
		return func(_ *Doubt, v Value) Value {
			if days, ok := calendar.ParseDate(v.S); ok {
				return Value{I: days}
			}
			return Null
		}
	}
	return func(_ *Doubt, v Value) Value {
		c, ok := calendar.ParseTimestamp(v.S)
		switch {
		case !ok:
			return Null
		case to.Kind == TimestampNTZ:
			return Value{I: c.Wall}
		}
		return Value{I: c.Instant(zone)}
	}
}
