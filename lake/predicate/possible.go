package predicate

import (
	"strings"

	"github.com/lakesweep/lakesweep/lake"
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
type guess struct{ r *row }

// value evaluates n if all its columns are known and the result is certain.
func (g guess) value(n *node) (value, bool) {
	for _, c := range n.columns {
		if !g.r.known[c] {
			return value{}, false
		}
	}
	r := row{values: g.r.values, known: g.r.known}
	v := n.eval(&r)
	return v, !r.doubt
}

func outcomeOf(v value) set {
	switch {
	case v.null:
		return canNull
	case v.i != 0:
		return canTrue
	}
	return canFalse
}

func (g guess) outcomes(n *node) set {
	if v, ok := g.value(n); ok {
		return outcomeOf(v)
	}
	switch n.form {
	case fNot:
		return g.outcomes(n.kids[0]).not()
	case fAnd, fOr:
		return g.logic(n)
	case fBinary:
		return g.compare(n)
	case fIn:
		return g.in(n)
	case fLike:
		return g.begins(n.kids[0], n.value.s)
	case fCall:
		if prefix, ok := g.value(n.kids[len(n.kids)-1]); ok && n.text == "startswith" && !prefix.null {
			return g.begins(n.kids[0], prefix.s)
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
func (g guess) logic(n *node) set {
	out := canTrue
	for _, k := range n.kids {
		s := g.outcomes(k)
		if n.form == fOr {
			s = s.not()
		}
		out = out.and(s)
	}
	if n.form == fOr {
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
func (g guess) compare(n *node) set {
	if n.text == "<=>" || n.typ.kind != kBoolean {
		return anything
	}
	for _, k := range n.kids {
		if v, ok := g.value(k); ok && v.null {
			return canNull
		}
	}
	left, right := g.span(n.kids[0]), g.span(n.kids[1])
	t := n.kids[0].typ
	switch {
	case left.below(t, right):
		return canNull | outcomeOf(boolean(holds(n.text, -1)))
	case right.below(t, left):
		return canNull | outcomeOf(boolean(holds(n.text, 1)))
	}
	return anything
}

func (g guess) in(n *node) set {
	out := canFalse | canNull
	value := g.span(n.kids[0])
	for _, k := range n.kids[1:] {
		other := g.span(k)
		if !value.below(n.kids[0].typ, other) && !other.below(n.kids[0].typ, value) {
			return anything
		}
	}
	return out
}

// begins tells whether n may begin with prefix; whether all that does matches is not known.
func (g guess) begins(n *node, prefix string) set {
	s := span{low: &value{s: prefix}, high: after(prefix)}
	if other := g.span(n); s.below(tString, other) || other.below(tString, s) {
		return canFalse | canNull
	}
	return anything
}

// span bounds what a value may be if it isn't NULL: low <= value < high, or
// value <= last. Nil is no bound.
type span struct{ low, high, last *value }

// below reports whether all of s lies before all of o.
func (s span) below(t typ, o span) bool {
	switch {
	case o.low == nil:
		return false
	case s.last != nil:
		return compareValues(t, *s.last, *o.low) < 0
	case s.high != nil:
		return compareValues(t, *s.high, *o.low) <= 0
	}
	return false
}

func (g guess) span(n *node) span {
	if v, ok := g.value(n); ok {
		if v.null {
			return span{}
		}
		return span{low: &v, last: &v}
	}
	switch {
	case n.typ.kind == kString:
		if prefix, _, ok := g.prefix(n); ok {
			return span{low: &value{s: prefix}, high: after(prefix)}
		}
	case n.typ.kind == kDate && n.form == fCast && n.kids[0].typ.kind == kString:
		if prefix, next, ok := g.prefix(n.kids[0]); ok {
			return dateSpan(prefix, next)
		}
	case n.typ.kind == kDate && n.pattern != nil:
		if prefix, _, ok := g.prefix(n.kids[0]); ok {
			return n.pattern.span(prefix)
		}
	}
	return span{}
}

// after is the least text that is greater than all that begins with prefix, nil if there is none.
func after(prefix string) *value {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return &value{s: prefix[:i] + string([]byte{prefix[i] + 1})}
		}
	}
	return nil
}

// prefix is what n, a joined text, begins with if it isn't NULL. What follows
// it, if anything, begins with next.
func (g guess) prefix(n *node) (prefix, next string, ok bool) {
	if n.form != fCall || n.text != "concat" && n.text != "concat_ws" {
		return "", "", false
	}
	kids, separator := n.kids, value{}
	if n.text == "concat_ws" {
		if separator, ok = g.value(kids[0]); !ok {
			return "", "", false
		}
		kids = kids[1:]
	}
	var parts []string
	for _, k := range kids {
		v, known := g.value(k)
		if !known {
			if inner, then, ok := g.prefix(k); ok && n.text == "concat" {
				return strings.Join(parts, "") + inner, then, true
			}
			break
		}
		if !v.null {
			parts = append(parts, v.s)
		}
	}
	if len(parts) == 0 {
		return "", "", false
	}
	return strings.Join(parts, separator.s), separator.s, true
}

// dateSpan bounds the dates whose text begins with prefix, of which the year
// must be whole.
func dateSpan(prefix, next string) span {
	year, rest, dashed := strings.Cut(prefix, "-")
	n, ok := digits(year, 4, 4)
	if !ok || !dashed && !strings.HasPrefix(next, "-") {
		return span{}
	}
	first, last := 1, 12
	if month, _, whole := strings.Cut(rest, "-"); whole || strings.HasPrefix(next, "-") && rest != "" {
		if m, ok := digits(month, 1, 2); ok && m >= 1 && m <= 12 {
			first, last = m, m
		}
	}
	return monthSpan(n, first, last)
}

// span bounds the dates that p reads from texts that begin with prefix, if p
// begins with the year, perhaps followed by the month.
func (p pattern) span(prefix string) span {
	if p[0].letter != 'y' || p[0].width != 4 || len(prefix) < 4 {
		return span{}
	}
	year, ok := digits(prefix[:4], 4, 4)
	if !ok {
		return span{}
	}
	rest := prefix[4:]
	for _, f := range p[1:] {
		if f.letter == 0 {
			if rest, ok = strings.CutPrefix(rest, f.text); !ok {
				break
			}
			continue
		}
		if f.letter == 'M' && f.width == 2 && len(rest) >= 2 {
			if m, ok := digits(rest[:2], 2, 2); ok && m >= 1 && m <= 12 {
				return monthSpan(year, m, m)
			}
		}
		break
	}
	return monthSpan(year, 1, 12)
}

// monthSpan is all dates from one month of a year to another.
func monthSpan(year, first, last int) span {
	low, _ := calendarDays(year, first, 1)
	high, _ := calendarDays(year+last/12, last%12+1, 1)
	return span{low: &value{i: low}, high: &value{i: high}}
}
