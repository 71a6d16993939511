package sql

import (
	"cmp"
	"math"
	"strings"
)

// Compare orders two values of one type. NaN equals itself and is
// greater than all else; strings compare by their UTF-8 bytes.
func Compare(t Type, a, b Value) int {
	switch t.Kind {
	case Float, Double:
		switch aNaN, bNaN := math.IsNaN(a.F), math.IsNaN(b.F); {
		case aNaN && bNaN:
			return 0
		case aNaN:
			return 1
		case bNaN:
			return -1
		}
		return cmp.Compare(a.F, b.F)
	case Decimal:
		return a.D.Cmp(b.D)
	case String, Binary:
		return strings.Compare(a.S, b.S)
	}
	return cmp.Compare(a.I, b.I)
}

// Holds reports whether the order of two values satisfies a comparison.
func Holds(op string, order int) bool {
	switch op {
	case "=", "<=>":
		return order == 0
	case "<>":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}
