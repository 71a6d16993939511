package predicate

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// like checks LIKE. The pattern can't depend on a column.
func (c *checker) like(e *expr, kids []*node) (*node, error) {
	kids, err := c.arguments(kids, "LIKE", kString)
	if err != nil {
		return nil, err
	}
	pattern, isNull, err := constantText(kids[1], "the pattern of LIKE")
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tBoolean, null, e.pos), nil
	}
	escape, _ := utf8.DecodeRuneInString(e.text)
	match, fault := compileLike(pattern, escape)
	if fault != "" {
		return nil, faultf(kids[1].pos, "%s", fault).fix("Double the escape character to mean itself.")
	}
	n := c.strict("like", tBoolean, e.pos, kids[:1], func(_ *row, v []value) value {
		return boolean(match.MatchString(v[0].s))
	})
	n.form, n.value.s = fLike, likePrefix(pattern, escape)
	return c.negation(n, e.negated), nil
}

// compileLike turns a LIKE pattern into a regular expression: % is any text, _
// any character, the escape makes these and itself plain.
//
// Source: StringUtils.escapeLikeRegex of Spark 3.5.
func compileLike(pattern string, escape rune) (*regexp.Regexp, string) {
	if len(pattern) > padLimit {
		return nil, "the pattern is too long"
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == escape && i+1 == len(runes):
			return nil, "the pattern ends with its escape character"
		case c == escape:
			i++
			if n := runes[i]; n != '%' && n != '_' && n != escape {
				return nil, "the escape character stands before " + string(n) + ", where it means nothing"
			}
			re.WriteString(regexp.QuoteMeta(string(runes[i])))
		case c == '%':
			re.WriteString(".*")
		case c == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re.WriteString(`\z`)
	out, err := regexp.Compile(re.String())
	if err != nil {
		return nil, "the pattern can't be used: " + err.Error()
	}
	return out, ""
}

// likePrefix is the plain text that all matches of a valid pattern begin with.
func likePrefix(pattern string, escape rune) string {
	var s strings.Builder
	escaped := false
	for _, c := range pattern {
		switch {
		case !escaped && c == escape:
			escaped = true
			continue
		case !escaped && (c == '%' || c == '_'):
			return s.String()
		}
		escaped = false
		s.WriteRune(c)
	}
	return s.String()
}

// rlike checks RLIKE. The pattern can't depend on a column, and must mean the
// same to Java and to RE2.
func (c *checker) rlike(e *expr, kids []*node) (*node, error) {
	kids, err := c.arguments(kids, "RLIKE", kString)
	if err != nil {
		return nil, err
	}
	pattern, isNull, err := constantText(kids[1], "the pattern of RLIKE")
	if err != nil {
		return nil, err
	}
	if isNull {
		return c.constant(tBoolean, null, e.pos), nil
	}
	if fault := portable(pattern); fault != "" {
		return nil, faultf(kids[1].pos, "%s", fault).fix("Supported: plain text, . [ ] ( ) | ^ $ * + ? {n,m} \\d \\w \\s \\p{L} and escaped signs.")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, faultf(kids[1].pos, "%v", err)
	}
	n := c.strict("rlike", tBoolean, e.pos, kids[:1], func(r *row, v []value) value {
		// Java and RE2 part at the ends of lines.
		if strings.ContainsAny(v[0].s, "\n\r\v\u0085\u2028\u2029") {
			r.doubt = true
			return null
		}
		return boolean(re.MatchString(v[0].s))
	})
	n.form = fRLike
	return c.negation(n, e.negated), nil
}

// portable returns why a regular expression might not mean the same to Java
// and to RE2, "" if it does.
func portable(pattern string) string {
	runes := []rune(pattern)
	at := func(i int) rune {
		if i < len(runes) {
			return runes[i]
		}
		return 0
	}
	class := false
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\':
			i++
			n := at(i)
			switch {
			case n == 'p' || n == 'P':
				if !unicodeClass(string(runes[i+1:])) {
					return `of \p only the general categories in braces, such as \p{L} and \p{Lu}, are supported`
				}
				for at(i) != '}' {
					i++
				}
			case strings.ContainsRune("dDwWsStnfra", n) && n != 0:
			case n == 0 || n >= '0' && n <= '9' || n >= 'a' && n <= 'z' || n >= 'A' && n <= 'Z' || n > 127:
				return `\` + string(n) + " is not supported in a regular expression"
			}
		case class && (c == '[' || c == '&' && at(i+1) == '&'):
			return "nested and intersected character classes are not supported"
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if at(i+1) == '^' {
				i++
			}
			if at(i+1) == ']' {
				return "an unescaped ] at the beginning of a character class is not supported"
			}
		case c == '(' && at(i+1) == '?' && at(i+2) != ':':
			return "groups that begin with (? are not supported, but for (?:"
		case c == '{' && !quantifier(runes[i:]):
			return "a brace must count repetitions or be escaped"
		case c == '}' && !slices.Contains(runes[:i], '{'):
			return "a closing brace must be escaped"
		case strings.ContainsRune("*+?}", c) && at(i+1) == '+':
			return "possessive repetitions are not supported"
		}
	}
	return ""
}

var (
	counts     = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
	categories = regexp.MustCompile(`^\{(L[ultmo]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|M[nce]?)\}`)
)

func quantifier(runes []rune) bool { return counts.MatchString(string(runes)) }

func unicodeClass(s string) bool { return categories.MatchString(s) }
