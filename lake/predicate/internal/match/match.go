package match

import (
	"regexp"
	"slices"
	"strings"
)

// patternLimit bounds the text of a LIKE pattern, in bytes.
const patternLimit = 1 << 16

// Like turns a LIKE pattern into a regular expression: % is any text, _
// any character, the escape makes these and itself plain.
//
// Source: StringUtils.escapeLikeRegex of Spark 3.5.
func Like(pattern string, escape rune) (*regexp.Regexp, string) {
	if len(pattern) > patternLimit {
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

// LikePrefix is the plain text that all matches of a valid pattern begin with.
func LikePrefix(pattern string, escape rune) string {
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

// Portable returns why a regular expression might not mean the same to Java
// and to RE2, "" if it does.
func Portable(pattern string) string {
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
