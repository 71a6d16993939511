package predicate

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

var (
	tString  = typ{kind: kString}
	tBoolean = typ{kind: kBoolean}
	tInt     = typ{kind: kInt}
	tDate    = typ{kind: kDate}
	tStamp   = typ{kind: kTimestamp}
)

// concat joins strings, casting everything to a string; only binaries among
// themselves stay binary.
func (c *checker) concat(pos int, args []*node) (*node, error) {
	to := kBinary
	for _, a := range args {
		if a.typ.kind != kBinary {
			to = kString
		}
	}
	args, err := c.arguments(args, "concat", to)
	if err != nil {
		return nil, err
	}
	return c.strict("concat", typ{kind: to}, pos, args, func(_ *row, v []value) value {
		var s strings.Builder
		for _, x := range v {
			s.WriteString(x.s)
		}
		return value{s: s.String()}
	}), nil
}

// concatWS joins strings by the first, leaving NULLs out.
func (c *checker) concatWS(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kString)
	if err != nil {
		return nil, err
	}
	return c.make(node{form: fCall, text: e.text, typ: tString, pos: e.pos, kids: args, eval: func(r *row) value {
		separator := args[0].eval(r)
		if separator.null {
			return null
		}
		var parts []string
		for _, a := range args[1:] {
			if v := a.eval(r); !v.null {
				parts = append(parts, v.s)
			}
		}
		return value{s: strings.Join(parts, separator.s)}
	}}), nil
}

// oneString is lower, upper and trim, which drops spaces only.
func (c *checker) oneString(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kString)
	if err != nil {
		return nil, err
	}
	change := map[string]func(string) string{
		"lower": func(s string) string { return foldCase(s, strings.ToLower, cases.Lower) },
		"upper": func(s string) string { return foldCase(s, strings.ToUpper, cases.Upper) },
		"trim":  func(s string) string { return strings.Trim(s, " ") },
	}[e.text]
	return c.strict(e.text, tString, e.pos, args, func(_ *row, v []value) value { return value{s: change(v[0].s)} }), nil
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
func (c *checker) substring(e *expr, args []*node) (*node, error) {
	to := kString
	if args[0].typ.kind == kBinary {
		to = kBinary
	}
	args, err := c.arguments(args, e.text, to, kInt)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, typ{kind: to}, e.pos, args, func(_ *row, v []value) value {
		length := int64(1<<31 - 1)
		if len(v) == 3 {
			length = v[2].i
		}
		if to == kBinary {
			n := int64(len(v[0].s))
			from, until := substringRange(n, v[1].i, length)
			return value{s: v[0].s[from:until]}
		}
		runes := []rune(v[0].s)
		from, until := substringRange(int64(len(runes)), v[1].i, length)
		return value{s: string(runes[from:until])}
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

func (c *checker) length(e *expr, args []*node) (*node, error) {
	if args[0].typ.kind == kBinary {
		return c.strict(e.text, tInt, e.pos, args, func(_ *row, v []value) value { return value{i: int64(len(v[0].s))} }), nil
	}
	args, err := c.arguments(args, e.text, kString)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tInt, e.pos, args, func(_ *row, v []value) value {
		return value{i: int64(utf8.RuneCountInString(v[0].s))}
	}), nil
}

// padLimit bounds the length that lpad may ask for, in characters.
const padLimit = 1 << 16

// textLimit bounds what replace may insert, in bytes.
const textLimit = 1 << 20

// lpad fills a string on the left, or cuts it, to a length in characters.
func (c *checker) lpad(e *expr, args []*node) (*node, error) {
	if args[0].typ.kind == kBinary {
		return nil, faultf(args[0].pos, "lpad of a binary is not supported").fix("CAST it AS string.")
	}
	args, err := c.arguments(args, e.text, kString, kInt, kString)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tString, e.pos, args, func(r *row, v []value) value {
		pad := []rune(" ")
		if len(v) == 3 {
			pad = []rune(v[2].s)
		}
		runes, want := []rune(v[0].s), max(v[1].i, 0)
		if want > padLimit {
			r.doubt = true
			return null
		}
		missing := int(want) - len(runes)
		if missing <= 0 || len(pad) == 0 {
			return value{s: string(runes[:min(int(want), len(runes))])}
		}
		fill := make([]rune, missing)
		for i := range fill {
			fill[i] = pad[i%len(pad)]
		}
		return value{s: string(fill) + v[0].s}
	}), nil
}

// search is contains, startswith and endswith; binaries among themselves compare bytes.
func (c *checker) search(e *expr, args []*node) (*node, error) {
	if args[0].typ.kind != kBinary || args[1].typ.kind != kBinary {
		var err error
		if args, err = c.arguments(args, e.text, kString); err != nil {
			return nil, err
		}
	}
	find := map[string]func(s, part string) bool{"contains": strings.Contains, "startswith": strings.HasPrefix, "endswith": strings.HasSuffix}[e.text]
	return c.strict(e.text, tBoolean, e.pos, args, func(_ *row, v []value) value { return boolean(find(v[0].s, v[1].s)) }), nil
}

func (c *checker) replace(e *expr, args []*node) (*node, error) {
	args, err := c.arguments(args, e.text, kString)
	if err != nil {
		return nil, err
	}
	return c.strict(e.text, tString, e.pos, args, func(r *row, v []value) value {
		by := ""
		if len(v) == 3 {
			by = v[2].s
		}
		if v[1].s == "" {
			return v[0]
		}
		if strings.Count(v[0].s, v[1].s)*len(by) > textLimit {
			r.doubt = true
			return null
		}
		return value{s: strings.ReplaceAll(v[0].s, v[1].s, by)}
	}), nil
}
