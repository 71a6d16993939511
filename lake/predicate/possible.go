package predicate

import (
	"strings"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/expr"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// MayMatch reports whether values, of which columns may be missing, could be
// completed to a partition that matches. It errs on the side of true.
func (p *Predicate) MayMatch(values lake.Partition) bool {
	r, readable := p.row(values)
	return readable && guess{r}.outcomes(p.root)&canTrue != 0
}

// set is the outcomes that a condition may have.
type set uint8

const (
	canTrue set = 1 << iota
	canFalse
	canNull
	anything = canTrue | canFalse | canNull
)

// guess evaluates with some columns unknown: every result is a superset of
// what any completion gives.
type guess struct{ r *expr.Row }

// value evaluates n if all its columns are known and the result is certain.
func (g guess) value(n *expr.Node) (sql.Value, bool) {
	for _, c := range n.Columns {
		if !g.r.Known[c] {
			return sql.Value{}, false
		}
	}
	r := expr.Row{Values: g.r.Values, Known: g.r.Known}
	v := n.Eval(&r)
	return v, !bool(r.Doubt)
}

func outcomeOf(v sql.Value) set {
	switch {
	case v.Null:
		return canNull
	case v.I != 0:
		return canTrue
	}
	return canFalse
}

func (g guess) outcomes(n *expr.Node) set {
	if v, ok := g.value(n); ok {
		return outcomeOf(v)
	}
	switch n.Form {
	case syntax.Not:
		return g.outcomes(n.Kids[0]).not()
	case syntax.And, syntax.Or:
		return g.logic(n)
	case syntax.Binary:
		return g.compare(n)
	case syntax.In:
		return g.in(n)
	case syntax.Like:
		return g.begins(n.Kids[0], n.Value.S)
	case syntax.Call:
		if prefix, ok := g.value(n.Kids[len(n.Kids)-1]); ok && n.Text == "startswith" && !prefix.Null {
			return g.begins(n.Kids[0], prefix.S)
		}
	}
	return anything
}

func (s set) not() set {
	out := s & canNull
	if s&canTrue != 0 {
		out |= canFalse
	}
	if s&canFalse != 0 {
		out |= canTrue
	}
	return out
}

// logic joins what the operands of AND or OR may be; OR as NOT(AND of NOTs).
func (g guess) logic(n *expr.Node) set {
	out := canTrue
	for _, k := range n.Kids {
		s := g.outcomes(k)
		if n.Form == syntax.Or {
			s = s.not()
		}
		out = out.and(s)
	}
	if n.Form == syntax.Or {
		out = out.not()
	}
	return out
}

func (s set) and(o set) set {
	out := (s | o) & canFalse
	if s&canTrue != 0 && o&canTrue != 0 {
		out |= canTrue
	}
	if s&canNull != 0 && o&(canNull|canTrue) != 0 || o&canNull != 0 && s&(canNull|canTrue) != 0 {
		out |= canNull
	}
	return out
}

// compare decides comparisons of texts of which the beginning is known, and
// those with NULL.
func (g guess) compare(n *expr.Node) set {
	if n.Text == "<=>" || n.Type.Kind != sql.Boolean {
		return anything
	}
	for _, k := range n.Kids {
		if v, ok := g.value(k); ok && v.Null {
			return canNull
		}
	}
	left, right := g.span(n.Kids[0]), g.span(n.Kids[1])
	t := n.Kids[0].Type
	switch {
	case left.below(t, right):
		return canNull | outcomeOf(sql.Bool(sql.Holds(n.Text, -1)))
	case right.below(t, left):
		return canNull | outcomeOf(sql.Bool(sql.Holds(n.Text, 1)))
	}
	return anything
}

func (g guess) in(n *expr.Node) set {
	out := canFalse | canNull
	value := g.span(n.Kids[0])
	for _, k := range n.Kids[1:] {
		other := g.span(k)
		if !value.below(n.Kids[0].Type, other) && !other.below(n.Kids[0].Type, value) {
			return anything
		}
	}
	return out
}

// begins tells whether n may begin with prefix; whether all that does matches is not known.
func (g guess) begins(n *expr.Node, prefix string) set {
	s := span{low: &sql.Value{S: prefix}, high: after(prefix)}
	t := sql.Type{Kind: sql.String}
	if other := g.span(n); s.below(t, other) || other.below(t, s) {
		return canFalse | canNull
	}
	return anything
}

// span bounds what a value may be if it isn't NULL: low <= value < high, or
// value <= last. Nil is no bound.
type span struct{ low, high, last *sql.Value }

// below reports whether all of s lies before all of o.
func (s span) below(t sql.Type, o span) bool {
	switch {
	case o.low == nil:
		return false
	case s.last != nil:
		return sql.Compare(t, *s.last, *o.low) < 0
	case s.high != nil:
		return sql.Compare(t, *s.high, *o.low) <= 0
	}
	return false
}

func (g guess) span(n *expr.Node) span {
	if v, ok := g.value(n); ok {
		if v.Null {
			return span{}
		}
		return span{low: &v, last: &v}
	}
	switch {
	case n.Type.Kind == sql.String:
		if prefix, _, ok := g.prefix(n); ok {
			return span{low: &sql.Value{S: prefix}, high: after(prefix)}
		}
	case n.Type.Kind == sql.Date && n.Form == syntax.Cast && n.Kids[0].Type.Kind == sql.String:
		if prefix, next, ok := g.prefix(n.Kids[0]); ok {
			return days(calendar.Begins(prefix, next))
		}
	case n.Type.Kind == sql.Date && n.Pattern != nil:
		if prefix, _, ok := g.prefix(n.Kids[0]); ok {
			return days(n.Pattern.Begins(prefix))
		}
	}
	return span{}
}

// after is the least text that is greater than all that begins with prefix, nil if there is none.
func after(prefix string) *sql.Value {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return &sql.Value{S: prefix[:i] + string([]byte{prefix[i] + 1})}
		}
	}
	return nil
}

// prefix is what n, a joined text, begins with if it isn't NULL. What follows
// it, if anything, begins with next.
func (g guess) prefix(n *expr.Node) (prefix, next string, ok bool) {
	if n.Form != syntax.Call || n.Text != "concat" && n.Text != "concat_ws" {
		return "", "", false
	}
	kids, separator := n.Kids, sql.Value{}
	if n.Text == "concat_ws" {
		if separator, ok = g.value(kids[0]); !ok {
			return "", "", false
		}
		kids = kids[1:]
	}
	var parts []string
	for _, k := range kids {
		v, known := g.value(k)
		if !known {
			if inner, then, ok := g.prefix(k); ok && n.Text == "concat" {
				return strings.Join(parts, "") + inner, then, true
			}
			break
		}
		if !v.Null {
			parts = append(parts, v.S)
		}
	}
	if len(parts) == 0 {
		return "", "", false
	}
	return strings.Join(parts, separator.S), separator.S, true
}

// days is the span of dates from low to before high.
func days(low, high int64, ok bool) span {
	if !ok {
		return span{}
	}
	return span{low: &sql.Value{I: low}, high: &sql.Value{I: high}}
}
