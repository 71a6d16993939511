package expr

import (
	"math"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

func (c *checker) isNaN(e *syntax.Expr, args []*Node) (*Node, error) {
	arg := args[0]
	if arg.Type.Kind != sql.Float {
		var err error
		if arg, err = c.argument(arg, sql.Double, e.Text); err != nil {
			return nil, err
		}
	}
	return c.make(Node{Form: syntax.Call, Text: e.Text, Type: tBoolean, pos: e.Pos, Kids: []*Node{arg}, Eval: func(r *Row) sql.Value {
		v := arg.Eval(r)
		return sql.Bool(!v.Null && math.IsNaN(v.F))
	}}), nil
}

// datePart is year, month and day.
func (c *checker) datePart(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.Date)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tInt, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value {
		t := calendar.DayTime(v[0].I)
		switch e.Text {
		case "year":
			return sql.Value{I: int64(t.Year())}
		case "month":
			return sql.Value{I: int64(t.Month())}
		}
		return sql.Value{I: int64(t.Day())}
	}), nil
}

func (c *checker) hour(e *syntax.Expr, args []*Node) (*Node, error) {
	zone := c.Zone
	if args[0].Type.Kind == sql.TimestampNTZ {
		zone = time.UTC
	} else {
		var err error
		if args, err = c.arguments(args, e.Text, sql.Timestamp); err != nil {
			return nil, err
		}
	}
	return c.strict(e.Text, tInt, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value {
		return sql.Value{I: int64(calendar.WallTime(v[0].I, zone).Hour())}
	}), nil
}

func (c *checker) dateAdd(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.Date, sql.Int)
	if err != nil {
		return nil, err
	}
	sign := int64(1)
	if e.Text == "date_sub" {
		sign = -1
	}
	return c.addDays(e.Pos, args[0], args[1], sign)
}

func (c *checker) dateDiff(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.Date)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tInt, e.Pos, args, func(r *Row, v []sql.Value) sql.Value {
		days := v[0].I - v[1].I
		if days != int64(int32(days)) {
			return r.Doubt.Raise()
		}
		return sql.Value{I: days}
	}), nil
}

func (c *checker) current(e *syntax.Expr, _ []*Node) (*Node, error) {
	if c.Now.IsZero() {
		return nil, syntax.Faultf(e.Pos, "%s isn't known here", e.Text).Fix("Write the date or time itself.")
	}
	now := c.Now.UnixMicro()
	if e.Text == "current_date" {
		return c.constant(tDate, sql.Value{I: calendar.FloorDiv(calendar.ToWall(now, c.Zone), calendar.MicrosPerDay)}, e.Pos), nil
	}
	return c.constant(tStamp, sql.Value{I: now}, e.Pos), nil
}

// unitNames holds the units that date_trunc knows; trunc knows those from week up.
var unitNames = map[string]string{
	"microsecond": "microsecond", "millisecond": "millisecond", "second": "second", "minute": "minute", "hour": "hour",
	"day": "day", "dd": "day", "week": "week", "mon": "month", "month": "month", "mm": "month", "quarter": "quarter",
	"year": "year", "yyyy": "year", "yy": "year",
}

// unit reads the unit of trunc or date_trunc, which must be a literal.
func unit(n *Node, dates bool) (string, error) {
	text, isNull, err := constantText(n, "the unit")
	if err != nil {
		return "", err
	}
	name := unitNames[strings.ToLower(text)]
	if isNull || name == "" || dates && !strings.Contains("week month quarter year", name) {
		return "", syntax.Faultf(n.pos, "'%s' is no unit here", text).Fix("Units: year, quarter, month, week; for date_trunc also day, hour, minute, second, millisecond, microsecond.")
	}
	return name, nil
}

func (c *checker) trunc(e *syntax.Expr, args []*Node) (*Node, error) {
	date, err := c.argument(args[0], sql.Date, e.Text)
	if err != nil {
		return nil, err
	}
	name, err := unit(args[1], true)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tDate, e.Pos, []*Node{date}, func(_ *Row, v []sql.Value) sql.Value {
		return sql.Value{I: calendar.TruncDays(v[0].I, name)}
	}), nil
}

func (c *checker) dateTrunc(e *syntax.Expr, args []*Node) (*Node, error) {
	name, err := unit(args[0], false)
	if err != nil {
		return nil, err
	}
	stamp, err := c.argument(args[1], sql.Timestamp, e.Text)
	if err != nil {
		return nil, err
	}
	zone := c.Zone
	return c.strict(e.Text, tStamp, e.Pos, []*Node{stamp}, func(_ *Row, v []sql.Value) sql.Value {
		return sql.Value{I: calendar.TruncMicros(v[0].I, name, zone)}
	}), nil
}

func (c *checker) dateFormat(e *syntax.Expr, args []*Node) (*Node, error) {
	stamp, err := c.argument(args[0], sql.Timestamp, e.Text)
	if err != nil {
		return nil, err
	}
	p, isNull, err := javaPattern(args[1])
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tString, sql.Null, e.Pos), nil
	}
	zone := c.Zone
	return c.strict(e.Text, tString, e.Pos, []*Node{stamp}, func(r *Row, v []sql.Value) sql.Value {
		t := calendar.WallTime(v[0].I, zone)
		if t.Year() < 1 || t.Year() > 9999 {
			return r.Doubt.Raise()
		}
		return sql.Value{S: p.Format(t)}
	}), nil
}

// toDatetime is to_date and to_timestamp, with and without a pattern.
func (c *checker) toDatetime(e *syntax.Expr, args []*Node) (*Node, error) {
	to := tDate
	if e.Text == "to_timestamp" {
		to = tStamp
	}
	if from := args[0].Type; from.Numeric() && (to.Kind == sql.Date || !from.Integral()) || from.Kind == sql.Boolean || from.Kind == sql.Binary {
		return nil, syntax.Faultf(args[0].pos, "%s can't read a %s", e.Text, from).Fix("CAST it AS string.")
	}
	if len(args) == 1 || args[0].Type.Kind != sql.String && args[0].Type.Kind != sql.Void {
		if len(args) == 2 && args[0].Type.Numeric() {
			return nil, syntax.Faultf(args[0].pos, "%s with a pattern wants a string, this is a %s", e.Text, args[0].Type).Fix("CAST it AS string.")
		}
		return c.implicit(args[0], to, e.Pos)
	}
	p, isNull, err := javaPattern(args[1])
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(to, sql.Null, e.Pos), nil
	}
	if fault := p.Parsable(); fault != "" {
		return nil, syntax.Faultf(args[1].pos, "%s", fault)
	}
	zone := c.Zone
	text, err := c.argument(args[0], sql.String, e.Text)
	if err != nil {
		return nil, err
	}
	n := c.strict(e.Text, to, e.Pos, []*Node{text}, func(_ *Row, v []sql.Value) sql.Value {
		wall, ok := p.Parse(v[0].S)
		switch {
		case !ok:
			return sql.Null
		case to.Kind == sql.Date:
			return sql.Value{I: calendar.FloorDiv(wall, calendar.MicrosPerDay)}
		}
		return sql.Value{I: calendar.FromWall(wall, zone)}
	})
	n.Pattern = p
	return n, nil
}

// javaPattern reads the pattern argument of a function.
func javaPattern(n *Node) (p calendar.Pattern, isNull bool, err error) {
	s, isNull, err := constantText(n, "the pattern")
	if err != nil || isNull {
		return nil, isNull, err
	}
	p, refused := calendar.ReadPattern(s)
	if refused != "" {
		return nil, false, syntax.Faultf(n.pos, "%s is not supported in a date pattern", refused).
			Fix("Supported: yyyy yy MM M dd d HH H mm m ss s S… and text in single quotes.")
	}
	return p, false, nil
}
