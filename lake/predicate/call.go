package predicate

import (
	"maps"
	"slices"
	"strings"
)

// function is one that predicates may call.
type function struct {
	least, most int // arguments; most -1: any number
	build       func(c *checker, e *expr, args []*node) (*node, error)
}

// functionNamed returns the function of that name.
func functionNamed(name string) (function, bool) {
	switch name {
	case "concat":
		return function{1, -1, func(c *checker, e *expr, args []*node) (*node, error) { return c.concat(e.pos, args) }}, true
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
		return function{1, 1, func(c *checker, e *expr, args []*node) (*node, error) {
			return c.isNull(e.pos, args[0], e.text == "isnotnull"), nil
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
		return function{1, 1, func(c *checker, e *expr, args []*node) (*node, error) {
			return c.cast(args[0], typ{kind: kDate}, e.pos)
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

// unsupportedCall returns why a function can't be called, nil if it can.
func unsupportedCall(e *expr) error {
	if _, ok := functionNamed(e.text); ok {
		return nil
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		if slices.Contains(refused[why], e.text) {
			return faultf(e.pos, "%s", why).fix("A predicate looks at one partition's values at a time.")
		}
	}
	return faultf(e.pos, "unknown function %q", e.text).fix("Functions: %s.", known)
}

func (c *checker) call(e *expr, args []*node) (*node, error) {
	f, _ := functionNamed(e.text) // the parser has refused the others
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return nil, faultf(e.pos, "%s doesn't take %d argument(s)", e.text, len(args)).fix("%s", usage(e.text, f))
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

// argument casts an argument to the type that a function takes.
//
// Source: TypeCoercion.implicitCast of Spark 3.5, less what loses digits.
func (c *checker) argument(n *node, to kind, name string) (*node, error) {
	from := n.typ
	ok := from.kind == to || from.kind == kNull || to == kString
	switch to {
	case kInt:
		ok = ok || from.integral()
	case kDouble:
		ok = ok || from.numeric() || from.kind == kString
	case kDate, kTimestamp:
		ok = ok || from.datetime() || from.kind == kString
	case kBinary:
		ok = ok || from.kind == kString
	}
	if !ok {
		return nil, faultf(n.pos, "%s wants a %s here, this is a %s", name, typ{kind: to}, from).fix("CAST it.")
	}
	return c.implicit(n, typ{kind: to}, n.pos)
}

// arguments casts all arguments, each to its own type.
func (c *checker) arguments(args []*node, name string, to ...kind) ([]*node, error) {
	out := make([]*node, len(args))
	for i, a := range args {
		var err error
		if out[i], err = c.argument(a, to[min(i, len(to)-1)], name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// constantText is the value of an argument that can't depend on a column.
func constantText(n *node, what string) (string, bool, error) {
	if len(n.columns) > 0 {
		return "", false, faultf(n.pos, "%s can't depend on a column", what).fix("Write it as a literal.")
	}
	v := n.eval(&row{})
	return v.s, v.null, nil
}

func (c *checker) coalesce(e *expr, args []*node) (*node, error) {
	types := make([]typ, len(args))
	for i, a := range args {
		types[i] = a.typ
	}
	t, ok := widest(types)
	if !ok {
		return nil, faultf(e.pos, "the arguments of coalesce have no common type: %s", typeList(types)).fix("CAST them to one type.")
	}
	for i := range args {
		var err error
		if args[i], err = c.implicit(args[i], t, args[i].pos); err != nil {
			return nil, err
		}
	}
	return c.make(node{form: fCall, text: e.text, typ: t, pos: e.pos, kids: args, eval: func(r *row) value {
		for _, a := range args {
			if v := a.eval(r); !v.null {
				return v
			}
		}
		return null
	}}), nil
}
