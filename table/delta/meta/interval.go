package meta

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// unitMicros is the length of an interval's units in microseconds. Months and
// years have none.
var unitMicros = map[string]int64{
	"week": 7 * 24 * 3600e6, "day": 24 * 3600e6, "hour": 3600e6, "minute": 60e6, "second": 1e6, "millisecond": 1e3, "microsecond": 1,
}

// unitMonths is the length of the other units in months.
var unitMonths = map[string]int64{"year": 12, "month": 1}

// parseInterval reads an interval of a table property, such as "interval 1
// week 2 days -3 hours", cut to milliseconds. Net months must be 0 and the
// whole mustn't be negative.
//
// Source: spec/delta-vacuum.md 3.4.
func parseInterval(s string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(s))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 {
		return 0, errors.New("an empty interval")
	}
	var months, micros big.Int
	for len(words) > 0 {
		number, sign := words[0], ""
		if (number == "+" || number == "-") && len(words) > 1 {
			sign, number, words = number, words[1], words[1:]
		}
		if len(words) < 2 {
			return 0, fmt.Errorf("%q without a unit", number)
		}
		if err := addItem(&months, &micros, sign+number, words[1]); err != nil {
			return 0, err
		}
		words = words[2:]
	}
	switch {
	case months.Sign() != 0:
		return 0, errors.New("months and years have no fixed length")
	case micros.Sign() < 0:
		return 0, errors.New("a negative interval")
	case !micros.IsInt64() || micros.Int64() > math.MaxInt64/1000:
		return 0, errors.New("an interval out of range")
	}
	return time.Duration(micros.Int64()/1000) * time.Millisecond, nil
}

func addItem(months, micros *big.Int, number, unit string) error {
	unit = strings.TrimSuffix(unit, "s")
	length, known := unitMicros[unit]
	perMonth, calendar := unitMonths[unit]
	if !known && !calendar {
		return fmt.Errorf("unknown unit %q", unit)
	}
	whole, fraction, hasPoint := strings.Cut(strings.TrimLeft(number, "+-"), ".")
	if len(number)-len(strings.TrimLeft(number, "+-")) > 1 || strings.Trim(whole+fraction, "0123456789") != "" || whole+fraction == "" || len(fraction) > 9 {
		return fmt.Errorf("%q is no number", number)
	}
	if hasPoint && unit != "second" {
		return fmt.Errorf("a fraction of a %s", unit)
	}
	n, _ := new(big.Int).SetString("0"+whole, 10)
	total, factor := micros, length
	if calendar {
		total, factor = months, perMonth
	}
	n.Mul(n, big.NewInt(factor))
	if fraction != "" {
		f, _ := new(big.Int).SetString((fraction + "000000")[:6], 10)
		n.Add(n, f)
	}
	if number[0] == '-' {
		n.Neg(n)
	}
	if total.Add(total, n); total.BitLen() > 63 {
		return errors.New("an interval out of range")
	}
	return nil
}
