package expr

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/match"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// like checks LIKE. The pattern can't depend on a column.
func (c *checker) like(e *syntax.Expr, kids []*Node) (*Node, error) {
	kids, err := c.arguments(kids, "LIKE", sql.String)
	if err != nil {
		return nil, err
	}
	pattern, isNull, err := constantText(kids[1], "the pattern of LIKE")
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tBoolean, sql.Null, e.Pos), nil
	}
	escape, _ := utf8.DecodeRuneInString(e.Text)
	re, fault := match.Like(pattern, escape)
	if fault != "" {
		return nil, syntax.Faultf(kids[1].pos, "%s", fault).Fix("Double the escape character to mean itself.")
	}
	n := c.strict("like", tBoolean, e.Pos, kids[:1], func(_ *Row, v []sql.Value) sql.Value {
		return sql.Bool(re.MatchString(v[0].S))
	})
	n.Form, n.Value.S = syntax.Like, match.LikePrefix(pattern, escape)
	return c.negation(n, e.Negated), nil
}

// rlike checks RLIKE. The pattern can't depend on a column, and must mean the
// same to Java and to RE2.
func (c *checker) rlike(e *syntax.Expr, kids []*Node) (*Node, error) {
	kids, err := c.arguments(kids, "RLIKE", sql.String)
	if err != nil {
		return nil, err
	}
	pattern, isNull, err := constantText(kids[1], "the pattern of RLIKE")
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tBoolean, sql.Null, e.Pos), nil
	}
	if fault := match.Portable(pattern); fault != "" {
		return nil, syntax.Faultf(kids[1].pos, "%s", fault).Fix("Supported: plain text, . [ ] ( ) | ^ $ * + ? {n,m} \\d \\w \\s \\p{L} and escaped signs.")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, syntax.Faultf(kids[1].pos, "%v", err)
	}
	n := c.strict("rlike", tBoolean, e.Pos, kids[:1], func(r *Row, v []sql.Value) sql.Value {
		// Java and RE2 part at the ends of lines.
		if strings.ContainsAny(v[0].S, "\n\r\v\u0085\u2028\u2029") {
			return r.Doubt.Raise()
		}
		return sql.Bool(re.MatchString(v[0].S))
	})
	n.Form = syntax.RLike
	return c.negation(n, e.Negated), nil
}
