package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// function is one that predicates may call.
type function struct {
	least, most int // arguments; most -1: any number
	build       func(c *checker, e *syntax.Expr, args []*Node) (*Node, error)
}

// functionNamed returns the function of that name.
func functionNamed(name string) (function, bool) {
	switch name {
	case "concat":
		return function{1, -1, func(c *checker, e *syntax.Expr, args []*Node) (*Node, error) { return c.concat(e.Pos, args) }}, true
	case "concat_ws":
		return function{1, -1, (*checker).concatWS}, true
	case "lower", "upper", "trim":
		return function{1, 1, (*checker).oneString}, true
	case "substr", "substring":
		return function{2, 3, (*checker).substring}, true
	case "length":
		return function{1, 1, (*checker).length}, true
	case "lpad":
		return function{2, 3, (*checker).lpad}, true
	case "contains", "startswith", "endswith":
		return function{2, 2, (*checker).search}, true
	case "replace":
		return function{2, 3, (*checker).replace}, true
	case "coalesce":
		return function{1, -1, (*checker).coalesce}, true
	case "isnull", "isnotnull":
		return function{1, 1, func(c *checker, e *syntax.Expr, args []*Node) (*Node, error) {
			return c.isNull(e.Pos, args[0], e.Text == "isnotnull"), nil
		}}, true
	case "isnan":
		return function{1, 1, (*checker).isNaN}, true
	case "year", "month", "day":
		return function{1, 1, (*checker).datePart}, true
	case "hour":
		return function{1, 1, (*checker).hour}, true
	case "date_add", "date_sub":
		return function{2, 2, (*checker).dateAdd}, true
	case "datediff":
		return function{2, 2, (*checker).dateDiff}, true
	case "date_trunc":
		return function{2, 2, (*checker).dateTrunc}, true
	case "trunc":
		return function{2, 2, (*checker).trunc}, true
	case "date_format":
		return function{2, 2, (*checker).dateFormat}, true
	case "date":
		return function{1, 1, func(c *checker, e *syntax.Expr, args []*Node) (*Node, error) {
			return c.cast(args[0], sql.Type{Kind: sql.Date}, e.Pos)
		}}, true
	case "to_date", "to_timestamp":
		return function{1, 2, (*checker).toDatetime}, true
	case "current_date", "current_timestamp":
		return function{0, 0, (*checker).current}, true
	}
	return function{}, false
}

// known lists all functions, for messages.
const known = "concat, concat_ws, lower, upper, trim, substr, substring, length, lpad, contains, startswith, endswith, replace, " +
	"coalesce, isnull, isnotnull, isnan, year, month, day, hour, date_add, date_sub, datediff, date_trunc, trunc, date_format, " +
	"date, to_date, to_timestamp, current_date, current_timestamp"

// refused says why functions that people might try aren't known.
var refused = map[string][]string{
	"aggregates are not supported": {"count", "sum", "avg", "mean", "min", "max", "first", "last", "any_value", "collect_list", "collect_set",
		"count_if", "bool_and", "bool_or", "every", "some", "any", "stddev", "variance", "median", "mode", "approx_count_distinct", "max_by", "min_by"},
	"functions whose result changes from call to call are not supported": {"rand", "randn", "random", "uuid", "shuffle",
		"monotonically_increasing_id", "spark_partition_id", "input_file_name"},
	"window functions are not supported": {"row_number", "rank", "dense_rank", "lag", "lead", "ntile"},
}

// Callable returns why a function can't be called, nil if it can.
func Callable(name string, pos int) error {
	if _, ok := functionNamed(name); ok {
		return nil
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		if slices.Contains(refused[why], name) {
			return syntax.Faultf(pos, "%s", why).Fix("A predicate looks at one partition's values at a time.")
		}
	}
	return syntax.Faultf(pos, "unknown function %q", name).Fix("Functions: %s.", known)
}

func (c *checker) call(e *syntax.Expr, args []*Node) (*Node, error) {
	f, _ := functionNamed(e.Text) // the parser has refused the others
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return nil, syntax.Faultf(e.Pos, "%s doesn't take %d argument(s)", e.Text, len(args)).Fix("%s", usage(e.Text, f))
	}
	n, err := f.build(c, e, args)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func usage(name string, f function) string {
	args := slices.Repeat([]string{"x"}, f.least)
	if f.most < 0 {
		args = append(args, "…")
	}
	out := "Write " + name + "(" + strings.Join(args, ", ") + ")"
	if f.most > f.least {
		out += ", with up to " + string(rune('0'+f.most)) + " arguments"
	}
	return out + "."
}

func (c *checker) coalesce(e *syntax.Expr, args []*Node) (*Node, error) {
	t, err := widest(e.Pos, "the arguments of coalesce", args)
	if err != nil {
		return nil, err
	}
	for i := range args {
		if args[i], err = c.implicit(args[i], t, args[i].pos); err != nil {
			return nil, err
		}
	}
	return c.make(Node{Form: syntax.Call, Text: e.Text, Type: t, pos: e.Pos, Kids: args, Eval: func(r *Row) sql.Value {
		for _, a := range args {
			if v := a.Eval(r); !v.Null {
				return v
			}
		}
		return sql.Null
	}}), nil
}
