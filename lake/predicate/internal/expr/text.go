package expr

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

var (
	tString  = sql.Type{Kind: sql.String}
	tBoolean = sql.Type{Kind: sql.Boolean}
	tInt     = sql.Type{Kind: sql.Int}
	tDate    = sql.Type{Kind: sql.Date}
	tStamp   = sql.Type{Kind: sql.Timestamp}
)

// concat joins strings, casting everything to a string; only binaries among
// themselves stay binary.
func (c *checker) concat(pos int, args []*Node) (*Node, error) {
	to := sql.Binary
	for _, a := range args {
		if a.Type.Kind != sql.Binary {
			to = sql.String
		}
	}
	args, err := c.arguments(args, "concat", to)
	if err != nil {
		return nil, err
	}
	return c.strict("concat", sql.Type{Kind: to}, pos, args, func(_ *Row, v []sql.Value) sql.Value {
		var s strings.Builder
		for _, x := range v {
			s.WriteString(x.S)
		}
		return sql.Value{S: s.String()}
	}), nil
}

// concatWS joins strings by the first, leaving NULLs out.
func (c *checker) concatWS(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.String)
	if err != nil {
		return nil, err
	}
	return c.make(Node{Form: syntax.Call, Text: e.Text, Type: tString, pos: e.Pos, Kids: args, Eval: func(r *Row) sql.Value {
		separator := args[0].Eval(r)
		if separator.Null {
			return sql.Null
		}
		var parts []string
		for _, a := range args[1:] {
			if v := a.Eval(r); !v.Null {
				parts = append(parts, v.S)
			}
		}
		return sql.Value{S: strings.Join(parts, separator.S)}
	}}), nil
}

// oneString is lower, upper and trim, which drops spaces only.
func (c *checker) oneString(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.String)
	if err != nil {
		return nil, err
	}
	change := map[string]func(string) string{
		"lower": func(s string) string { return foldCase(s, strings.ToLower, cases.Lower) },
		"upper": func(s string) string { return foldCase(s, strings.ToUpper, cases.Upper) },
		"trim":  func(s string) string { return strings.Trim(s, " ") },
	}[e.Text]
	return c.strict(e.Text, tString, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value { return sql.Value{S: change(v[0].S)} }), nil
}

// foldCase changes the case of s: ASCII by ascii, else by the full rules of Unicode.
func foldCase(s string, ascii func(string) string, full func(language.Tag, ...cases.Option) cases.Caser) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return full(language.Und).String(s)
		}
	}
	return ascii(s)
}

// substring takes characters, of a binary bytes, from a place that counts from
// 1, or from the end if it is negative.
//
// Source: UTF8String.substringSQL and ByteArray.subStringSQL of Spark 3.5.
func (c *checker) substring(e *syntax.Expr, args []*Node) (*Node, error) {
	to := sql.String
	if args[0].Type.Kind == sql.Binary {
		to = sql.Binary
	}
	args, err := c.arguments(args, e.Text, to, sql.Int)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, sql.Type{Kind: to}, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value {
		length := int64(1<<31 - 1)
		if len(v) == 3 {
			length = v[2].I
		}
		if to == sql.Binary {
			n := int64(len(v[0].S))
			from, until := substringRange(n, v[1].I, length)
			return sql.Value{S: v[0].S[from:until]}
		}
		runes := []rune(v[0].S)
		from, until := substringRange(int64(len(runes)), v[1].I, length)
		return sql.Value{S: string(runes[from:until])}
	}), nil
}

// substringRange cuts pos and length to [0, n].
func substringRange(n, pos, length int64) (from, until int64) {
	switch {
	case pos > 0:
		from = pos - 1
	case pos < 0:
		from = n + pos
	}
	until = min(max(from+length, 0), n)
	from = max(from, 0)
	if from >= until {
		return 0, 0
	}
	return from, until
}

func (c *checker) length(e *syntax.Expr, args []*Node) (*Node, error) {
	if args[0].Type.Kind == sql.Binary {
		return c.strict(e.Text, tInt, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value { return sql.Value{I: int64(len(v[0].S))} }), nil
	}
	args, err := c.arguments(args, e.Text, sql.String)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tInt, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value {
		return sql.Value{I: int64(utf8.RuneCountInString(v[0].S))}
	}), nil
}

// padLimit bounds the length that lpad may ask for, in characters.
const padLimit = 1 << 16

// textLimit bounds what replace may insert, in bytes.
const textLimit = 1 << 20

// lpad fills a string on the left, or cuts it, to a length in characters.
func (c *checker) lpad(e *syntax.Expr, args []*Node) (*Node, error) {
	if args[0].Type.Kind == sql.Binary {
		return nil, syntax.Faultf(args[0].pos, "lpad of a binary is not supported").Fix("CAST it AS string.")
	}
	args, err := c.arguments(args, e.Text, sql.String, sql.Int, sql.String)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tString, e.Pos, args, func(r *Row, v []sql.Value) sql.Value {
		pad := []rune(" ")
		if len(v) == 3 {
			pad = []rune(v[2].S)
		}
		runes, want := []rune(v[0].S), max(v[1].I, 0)
		if want > padLimit {
			return r.Doubt.Raise()
		}
		missing := int(want) - len(runes)
		if missing <= 0 || len(pad) == 0 {
			return sql.Value{S: string(runes[:min(int(want), len(runes))])}
		}
		fill := make([]rune, missing)
		for i := range fill {
			fill[i] = pad[i%len(pad)]
		}
		return sql.Value{S: string(fill) + v[0].S}
	}), nil
}

// search is contains, startswith and endswith; binaries among themselves compare bytes.
func (c *checker) search(e *syntax.Expr, args []*Node) (*Node, error) {
	if args[0].Type.Kind != sql.Binary || args[1].Type.Kind != sql.Binary {
		var err error
		if args, err = c.arguments(args, e.Text, sql.String); err != nil {
			return nil, err
		}
	}
	find := map[string]func(s, part string) bool{"contains": strings.Contains, "startswith": strings.HasPrefix, "endswith": strings.HasSuffix}[e.Text]
	return c.strict(e.Text, tBoolean, e.Pos, args, func(_ *Row, v []sql.Value) sql.Value { return sql.Bool(find(v[0].S, v[1].S)) }), nil
}

func (c *checker) replace(e *syntax.Expr, args []*Node) (*Node, error) {
	args, err := c.arguments(args, e.Text, sql.String)
	if err != nil {
		return nil, err
	}
	return c.strict(e.Text, tString, e.Pos, args, func(r *Row, v []sql.Value) sql.Value {
		by := ""
		if len(v) == 3 {
			by = v[2].S
		}
		if v[1].S == "" {
			return v[0]
		}
		if strings.Count(v[0].S, v[1].S)*len(by) > textLimit {
			return r.Doubt.Raise()
		}
		return sql.Value{S: strings.ReplaceAll(v[0].S, v[1].S, by)}
	}), nil
}
