package sql

import "math/big"

// Value is a value of a type known from elsewhere. Which field holds it
// depends on the type's kind:
//
//	boolean              I, 0 or 1
//	tinyint … bigint     I
//	float, double        F
//	decimal              D, times 10 to the power of the type's scale
//	string, binary       S
//	date                 I, days since 1970-01-01
//	timestamp            I, microseconds since the epoch
//	timestamp_ntz        I, the same, of the wall clock read as UTC
type Value struct {
	Null bool
	I    int64
	F    float64
	S    string
	D    *big.Int
}

// Null is NULL, of any type.
var Null = Value{Null: true}

// Bool is a boolean.
func Bool(b bool) Value {
	if b {
		return Value{I: 1}
	}
	return Value{}
}

// IsTrue reports whether v, a boolean, is neither NULL nor false.
func (v Value) IsTrue() bool { return !v.Null && v.I != 0 }

// Doubt is raised where a number overflows and Spark would wrap around or
// saturate, or where Spark would fail: the outcome is unknown then.
type Doubt bool

// Raise raises the doubt; the value to go on with is NULL.
func (d *Doubt) Raise() Value {
	*d = true
	return Null
}
