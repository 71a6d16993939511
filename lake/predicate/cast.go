package predicate

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// caster turns a value, not NULL, of one type into another. It sets r.doubt
// where Spark would wrap around or saturate.
type caster func(r *row, v value) value

// castTo returns the cast between two types, nil if there is none. Casts of
// Spark that no partition filter means (date to boolean, number to binary, …)
// are left out.
//
// Source: Cast.scala of Spark 3.5, ANSI mode off.
func castTo(from, to typ, zone *time.Location) caster {
	switch {
	case from == to:
		return func(_ *row, v value) value { return v }
	case from.kind == kNull:
		return func(*row, value) value { return null }
	}
	switch to.kind {
	case kString:
		return func(r *row, v value) value {
			s := format(v, from, zone)
			if !utf8.ValidString(s) { // bytes that are no text
				r.doubt = true
				return null
			}
			return value{s: s}
		}
	case kBinary:
		if from.kind == kString {
			return func(_ *row, v value) value { return v }
		}
	case kBoolean:
		return castBoolean(from)
	case kByte, kShort, kInt, kLong:
		return castIntegral(from, to)
	case kFloat, kDouble:
		return castFloat(from, to)
	case kDecimal:
		return castDecimal(from, to)
	case kDate, kTimestamp, kTimestampNTZ:
		return castDatetime(from, to, zone)
	}
	return nil
}

// format is the cast to string.
func format(v value, t typ, zone *time.Location) string {
	switch t.kind {
	case kBoolean:
		return strconv.FormatBool(v.i != 0)
	case kByte, kShort, kInt, kLong:
		return strconv.FormatInt(v.i, 10)
	case kFloat:
		return formatFloat(v.f, 32)
	case kDouble:
		return formatFloat(v.f, 64)
	case kDecimal:
		return formatDecimal(v.d, t.scale)
	case kDate:
		return formatDate(v.i)
	case kTimestamp:
		return formatTimestamp(wallTime(v.i, zone))
	case kTimestampNTZ:
		return formatTimestamp(wallTime(v.i, time.UTC))
	}
	return v.s
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

func castBoolean(from typ) caster {
	switch {
	case from.kind == kString:
		return func(_ *row, v value) value {
			switch strings.ToLower(trimAll(v.s)) {
			case "t", "true", "y", "yes", "1":
				return boolean(true)
			case "f", "false", "n", "no", "0":
				return boolean(false)
			}
			return null
		}
	case from.integral():
		return func(_ *row, v value) value { return boolean(v.i != 0) }
	case from.floating():
		return func(_ *row, v value) value { return boolean(v.f != 0) }
	case from.kind == kDecimal:
		return func(_ *row, v value) value { return boolean(v.d.Sign() != 0) }
	}
	return nil
}

// integralRange is the least and greatest value of an integral type.
func integralRange(t typ) (int64, int64) {
	bits := map[kind]int{kByte: 8, kShort: 16, kInt: 32, kLong: 64}[t.kind]
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

func castIntegral(from, to typ) caster {
	low, high := integralRange(to)
	fit := func(r *row, i int64) value {
		if i < low || i > high {
			r.doubt = true
			return null
		}
		return value{i: i}
	}
	switch {
	case from.kind == kString:
		return func(_ *row, v value) value {
			i, ok := parseIntegral(v.s)
			if !ok || i < low || i > high {
				return null
			}
			return value{i: i}
		}
	case from.kind == kBoolean, from.integral():
		return func(r *row, v value) value { return fit(r, v.i) }
	case from.floating():
		return func(r *row, v value) value {
			f := math.Trunc(v.f)
			if math.IsNaN(f) || f < -1<<63 || f >= 1<<63 {
				r.doubt = true
				return null
			}
			return fit(r, int64(f))
		}
	case from.kind == kDecimal:
		return func(r *row, v value) value {
			whole := new(big.Int).Quo(v.d, pow10(from.scale))
			if !whole.IsInt64() {
				r.doubt = true
				return null
			}
			return fit(r, whole.Int64())
		}
	case from.kind == kTimestamp:
		return func(r *row, v value) value { return fit(r, floorDiv(v.i, microsPerSecond)) }
	}
	return nil
}

// parseIntegral reads a whole number; a fraction is read and dropped.
//
// Source: UTF8String.toLong of Spark 3.5.
func parseIntegral(s string) (int64, bool) {
	s = trimAll(s)
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

func castFloat(from, to typ) caster {
	narrow := func(f float64) value {
		if to.kind == kFloat {
			f = float64(float32(f))
		}
		return value{f: f}
	}
	switch {
	case from.kind == kString:
		bits := 64
		if to.kind == kFloat {
			bits = 32
		}
		return func(_ *row, v value) value {
			f, ok := parseFloat(v.s, bits)
			if !ok {
				return null
			}
			return value{f: f}
		}
	case from.kind == kBoolean, from.integral():
		if to.kind == kFloat {
			return func(_ *row, v value) value { return value{f: float64(float32(v.i))} }
		}
		return func(_ *row, v value) value { return value{f: float64(v.i)} }
	case from.floating():
		return func(_ *row, v value) value { return narrow(v.f) }
	case from.kind == kDecimal:
		return func(_ *row, v value) value { return narrow(decimalFloat(v.d, from.scale)) }
	case from.kind == kTimestamp:
		return func(_ *row, v value) value { return narrow(float64(v.i) / microsPerSecond) }
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

func castDecimal(from, to typ) caster {
	ofFloat := func(f float64) value {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return null
		}
		d, scale, ok := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
		if !ok {
			return null
		}
		return toDecimal(d, scale, to)
	}
	switch {
	case from.kind == kString:
		return func(_ *row, v value) value {
			d, scale, ok := parseDecimal(strings.TrimFunc(v.s, func(r rune) bool { return r <= ' ' }))
			if !ok {
				return null
			}
			return toDecimal(d, scale, to)
		}
	case from.kind == kBoolean, from.integral():
		return func(_ *row, v value) value { return toDecimal(big.NewInt(v.i), 0, to) }
	case from.floating():
		return func(_ *row, v value) value { return ofFloat(v.f) }
	case from.kind == kDecimal:
		return func(_ *row, v value) value { return toDecimal(v.d, from.scale, to) }
	}
	return nil
}

func castDatetime(from, to typ, zone *time.Location) caster {
	switch from.kind {
	case kString:
		return castStringDatetime(to, zone)
	case kDate:
		if to.kind == kTimestamp {
			return func(_ *row, v value) value { return value{i: fromWall(v.i*microsPerDay, zone)} }
		}
		return func(_ *row, v value) value { return value{i: v.i * microsPerDay} }
	case kTimestamp:
		if to.kind == kDate {
			return func(_ *row, v value) value { return value{i: floorDiv(toWall(v.i, zone), microsPerDay)} }
		}
		return func(_ *row, v value) value { return value{i: toWall(v.i, zone)} }
	case kTimestampNTZ:
		if to.kind == kDate {
			return func(_ *row, v value) value { return value{i: floorDiv(v.i, microsPerDay)} }
		}
		return func(_ *row, v value) value { return value{i: fromWall(v.i, zone)} }
	case kByte, kShort, kInt, kLong:
		if to.kind == kTimestamp {
			return func(r *row, v value) value {
				if v.i > math.MaxInt64/microsPerSecond || v.i < math.MinInt64/microsPerSecond {
					r.doubt = true
					return null
				}
				return value{i: v.i * microsPerSecond}
			}
		}
	}
	return nil
}

func castStringDatetime(to typ, zone *time.Location) caster {
	if to.kind == kDate {
		return func(_ *row, v value) value {
			if days, ok := parseDate(v.s); ok {
				return value{i: days}
			}
			return null
		}
	}
	return func(_ *row, v value) value {
		c, ok := parseTimestamp(v.s)
		switch {
		case !ok:
			return null
		case to.kind == kTimestampNTZ:
			return value{i: c.wall}
		}
		return value{i: c.instant(zone)}
	}
}
