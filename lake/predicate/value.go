package predicate

import "math/big"

// value is a value of a type known from elsewhere. Which field holds it
// depends on the type's kind:
//
//	boolean              i, 0 or 1
//	tinyint … bigint     i
//	float, double        f
//	decimal              d, times 10 to the power of the type's scale
//	string, binary       s
//	date                 i, days since 1970-01-01
//	timestamp            i, microseconds since the epoch
//	timestamp_ntz        i, the same, of the wall clock read as UTC
type value struct {
	null bool
	i    int64
	f    float64
	s    string
	d    *big.Int
}

var null = value{null: true}

func boolean(b bool) value {
	if b {
		return value{i: 1}
	}
	return value{}
}

// isTrue reports whether v, a boolean, is neither NULL nor false.
func (v value) isTrue() bool { return !v.null && v.i != 0 }

// row is what one evaluation knows. A predicate's nodes never keep it.
type row struct {
	values []value // by the column's place in the schema
	known  []bool
	// doubt is set when a number overflowed where Spark would wrap around or
	// saturate, or when Spark would fail: the outcome is Unknown.
	doubt bool
}
