package predicate

import (
	"math"
	"strings"
	"time"
)

func (c *checker) isNaN(e *expr, args []*node) (*node, error) {
	arg := args[0]
	if arg.typ.kind != kFloat {
		var err error
		if arg, err = c.argument(arg, kDouble, e.text); err != nil {
			return nil, err
		}
	}
	return c.make(node{form: fCall, text: e.text, typ: tBoolean, pos: e.pos, kids: []*node{arg}, eval: func(r *row) value {
		v := arg.eval(r)
		return boolean(!v.null && math.IsNaN(v.f))
	}}), nil
}

// datePart is year, month and day.
func (c *checker) datePart(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kDate)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tInt, e.pos, args, func(_ *row, v []value) value {
		t := dayTime(v[0].i)
		switch e.text {
		case "year":
			return value{i: int64(t.Year())}
		case "month":
			return value{i: int64(t.Month())}
		}
		return value{i: int64(t.Day())}
	}), nil
}

func (c *checker) hour(e *expr, args []*node) (*node, error) {
	zone := c.zone()
	if args[0].typ.kind == kTimestampNTZ {
		zone = time.UTC
	} else {
		var err error
		if args, err = c.arguments(args, e.text, kTimestamp); err != nil {
			return nil, err
		}
	}
	return c.strict(e.text, tInt, e.pos, args, func(_ *row, v []value) value {
		return value{i: int64(wallTime(v[0].i, zone).Hour())}
	}), nil
}

func (c *checker) dateAdd(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kDate, kInt)
	if err != nil {
		return nil, err
	}
	sign := int64(1)
	if e.text == "date_sub" {
		sign = -1
	}
	return c.addDays(e.pos, args[0], args[1], sign)
}

func (c *checker) dateDiff(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kDate)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tInt, e.pos, args, func(r *row, v []value) value {
		days := v[0].i - v[1].i
		if days != int64(int32(days)) {
			r.doubt = true
			return null
		}
		return value{i: days}
	}), nil
}

func (c *checker) current(e *expr, _ []*node) (*node, error) {
	if c.opts.Now.IsZero() {
		return nil, faultf(e.pos, "%s isn't known here", e.text).fix("Write the date or time itself.")
	}
	now := c.opts.Now.UnixMicro()
	if e.text == "current_date" {
		return c.constant(tDate, value{i: floorDiv(toWall(now, c.zone()), microsPerDay)}, e.pos), nil
	}
	return c.constant(tStamp, value{i: now}, e.pos), nil
}

// unitNames holds the units that date_trunc knows; trunc knows those from week up.
var unitNames = map[string]string{
	"microsecond": "microsecond", "millisecond": "millisecond", "second": "second", "minute": "minute", "hour": "hour",
	"day": "day", "dd": "day", "week": "week", "mon": "month", "month": "month", "mm": "month", "quarter": "quarter",
	"year": "year", "yyyy": "year", "yy": "year",
}

// unit reads the unit of trunc or date_trunc, which must be a literal.
func unit(n *node, dates bool) (string, error) {
	text, isNull, err := constantText(n, "the unit")
	if err != nil {
		return "", err
	}
	name := unitNames[strings.ToLower(text)]
	if isNull || name == "" || dates && !strings.Contains("week month quarter year", name) {
		return "", faultf(n.pos, "'%s' is no unit here", text).fix("Units: year, quarter, month, week; for date_trunc also day, hour, minute, second, millisecond, microsecond.")
	}
	return name, nil
}

func (c *checker) trunc(e *expr, args []*node) (*node, error) {
	date, err := c.argument(args[0], kDate, e.text)
	if err != nil {
		return nil, err
	}
	name, err := unit(args[1], true)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tDate, e.pos, []*node{date}, func(_ *row, v []value) value {
		return value{i: truncDays(v[0].i, name)}
	}), nil
}

// truncDays goes back to the first day of a week (a Monday), month, quarter or year.
func truncDays(days int64, unit string) int64 {
	t := dayTime(days)
	month := t.Month()
	switch unit {
	case "week":
		return days - int64(t.Weekday()+6)%7
	case "year":
		month = time.January
	case "quarter":
		month = (month-1)/3*3 + 1
	}
	first, _ := calendarDays(t.Year(), int(month), 1)
	return first
}

func (c *checker) dateTrunc(e *expr, args []*node) (*node, error) {
	name, err := unit(args[0], false)
	if err != nil {
		return nil, err
	}
	stamp, err := c.argument(args[1], kTimestamp, e.text)
	if err != nil {
		return nil, err
	}
	zone := c.zone()
	return c.strict(e.text, tStamp, e.pos, []*node{stamp}, func(_ *row, v []value) value {
		return value{i: truncMicros(v[0].i, name, zone)}
	}), nil
}

// truncMicros goes back to the beginning of a unit, from minutes up by the
// wall clock of zone.
//
// Source: DateTimeUtils.truncTimestamp of Spark 3.5.
func truncMicros(micros int64, unit string, zone *time.Location) int64 {
	step := map[string]int64{"microsecond": 1, "millisecond": 1000, "second": microsPerSecond,
		"minute": 60 * microsPerSecond, "hour": 3600 * microsPerSecond, "day": microsPerDay}[unit]
	wall := toWall(micros, zone)
	switch unit {
	case "microsecond", "millisecond", "second":
		return floorDiv(micros, step) * step
	case "minute", "hour", "day":
		cut := floorDiv(wall, step) * step
		if same := cut - (wall - micros); toWall(same, zone) == cut {
			return same // with the offset of the time itself, where the clock shows this time twice
		}
		return fromWall(cut, zone)
	}
	return fromWall(truncDays(floorDiv(wall, microsPerDay), unit)*microsPerDay, zone)
}

func (c *checker) dateFormat(e *expr, args []*node) (*node, error) {
	stamp, err := c.argument(args[0], kTimestamp, e.text)
	if err != nil {
		return nil, err
	}
	p, isNull, err := javaPattern(args[1])
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tString, null, e.pos), nil
	}
	zone := c.zone()
	return c.strict(e.text, tString, e.pos, []*node{stamp}, func(r *row, v []value) value {
		t := wallTime(v[0].i, zone)
		if t.Year() < 1 || t.Year() > 9999 {
			r.doubt = true
			return null
		}
		return value{s: p.format(t)}
	}), nil
}

// toDatetime is to_date and to_timestamp, with and without a pattern.
func (c *checker) toDatetime(e *expr, args []*node) (*node, error) {
	to := tDate
	if e.text == "to_timestamp" {
		to = tStamp
	}
	if from := args[0].typ; from.numeric() && (to.kind == kDate || !from.integral()) || from.kind == kBoolean || from.kind == kBinary {
		return nil, faultf(args[0].pos, "%s can't read a %s", e.text, from).fix("CAST it AS string.")
	}
	if len(args) == 1 || args[0].typ.kind != kString && args[0].typ.kind != kNull {
		if len(args) == 2 && args[0].typ.numeric() {
			return nil, faultf(args[0].pos, "%s with a pattern wants a string, this is a %s", e.text, args[0].typ).fix("CAST it AS string.")
		}
		return c.implicit(args[0], to, e.pos)
	}
	p, isNull, err := javaPattern(args[1])
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(to, null, e.pos), nil
	}
	if fault := p.parsable(); fault != "" {
		return nil, faultf(args[1].pos, "%s", fault)
	}
	zone := c.zone()
	text, err := c.argument(args[0], kString, e.text)
	if err != nil {
		return nil, err
	}
	n := c.strict(e.text, to, e.pos, []*node{text}, func(_ *row, v []value) value {
		wall, ok := p.parse(v[0].s)
		switch {
		case !ok:
			return null
		case to.kind == kDate:
			return value{i: floorDiv(wall, microsPerDay)}
		}
		return value{i: fromWall(wall, zone)}
	})
	n.pattern = p
	return n, nil
}
