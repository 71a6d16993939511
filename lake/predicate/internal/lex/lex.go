// Package lex cuts Spark SQL text into tokens. It keeps the place of each, so
// that errors can point at it and a statement can be cut by offsets.
package lex

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	EOF    Kind = iota
	Ident       // a bare identifier or keyword
	Quoted      // a backquoted identifier
	String      // a string literal
	Number      // a numeric literal with its suffix
	Op          // an operator or punctuation
)

// Token is one token of a text.
type Token struct {
	Kind     Kind
	Text     string // decoded: without quotes and escapes
	Pos, End int    // byte offsets in the text
}

// Is reports whether t is the operator or, in any case, the keyword s.
func (t Token) Is(s string) bool {
	return t.Kind == Op && t.Text == s || t.Kind == Ident && strings.EqualFold(t.Text, s)
}

// Error is a fault of the text at a byte offset.
type Error struct {
	Pos int
	Msg string
}

// Error returns the message without the place.
func (e *Error) Error() string { return e.Msg }

// Split cuts text into tokens; the last one is EOF. White space and comments
// ("--" to the end of the line, "/* */", which nest) are left out.
//
// Errors: *Error.
// Source: SqlBaseLexer.g4 of Spark 3.5.
func Split(text string) ([]Token, error) {
	var tokens []Token
	for pos := 0; ; {
		next, err := skipSpace(text, pos)
		if err != nil {
			return nil, err
		}
		pos = next
		if pos == len(text) {
			return append(tokens, Token{Kind: EOF, Pos: pos, End: pos}), nil
		}
		t, err := scan(text, pos)
		if err != nil {
			return nil, err
		}
		tokens, pos = append(tokens, t), t.End
	}
}

func skipSpace(text string, pos int) (int, error) {
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			pos += size
		case strings.HasPrefix(text[pos:], "--"):
			n := strings.IndexByte(text[pos:], '\n')
			if n < 0 {
				return len(text), nil
			}
			pos += n + 1
		case strings.HasPrefix(text[pos:], "/*"):
			end := comment(text, pos)
			if end < 0 {
				return 0, &Error{pos, "this comment has no end"}
			}
			pos = end
		default:
			return pos, nil
		}
	}
	return pos, nil
}

// comment returns the end of the comment that begins at pos, -1 if there is none.
func comment(text string, pos int) int {
	depth := 0
	for pos+1 < len(text) {
		switch text[pos : pos+2] {
		case "/*":
			depth++
			pos += 2
		case "*/":
			depth--
			pos += 2
			if depth == 0 {
				return pos
			}
		default:
			pos++
		}
	}
	return -1
}

// operators, longest first.
var operators = [...]string{"<=>", "<>", "!=", "<=", ">=", "==", "||"}

func scan(text string, pos int) (Token, error) {
	c := text[pos]
	switch {
	case c == '\'' || c == '"':
		return quotedString(text, pos, pos)
	case (c == 'r' || c == 'R') && pos+1 < len(text) && (text[pos+1] == '\'' || text[pos+1] == '"'):
		return rawString(text, pos)
	case c == '`':
		return backquoted(text, pos)
	case digit(text, pos) || c == '.' && digit(text, pos+1):
		if end := number(text, pos); end > 0 {
			return Token{Number, text[pos:end], pos, end}, nil
		}
	}
	if end := identifier(text, pos); end > pos {
		return Token{Ident, text[pos:end], pos, end}, nil
	}
	for _, op := range operators {
		if strings.HasPrefix(text[pos:], op) {
			return Token{Op, op, pos, pos + len(op)}, nil
		}
	}
	r, size := utf8.DecodeRuneInString(text[pos:])
	if r == utf8.RuneError && size < 2 {
		return Token{}, &Error{pos, "this byte is no UTF-8"}
	}
	if strings.ContainsRune("‘’“”´", r) {
		return Token{}, &Error{pos, fmt.Sprintf("%q is no quotation mark of SQL: write '", r)}
	}
	return Token{Op, text[pos : pos+size], pos, pos + size}, nil
}

func digit(text string, pos int) bool {
	return pos < len(text) && text[pos] >= '0' && text[pos] <= '9'
}

func identifier(text string, pos int) int {
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		pos += size
	}
	return pos
}

// number returns the end of the numeric literal at pos, 0 if the text there is
// an identifier that begins with digits, or punctuation.
func number(text string, pos int) int {
	digits := func(i int) int {
		for digit(text, i) {
			i++
		}
		return i
	}
	whole := digits(pos)
	end, integer := whole, true
	if end < len(text) && text[end] == '.' {
		end, integer = digits(end+1), false
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		sign := end + 1
		if sign < len(text) && (text[sign] == '+' || text[sign] == '-') {
			sign++
		}
		if digit(text, sign) {
			end, integer = digits(sign), false
		}
	}
	suffixes := []string{"bd", "d", "f"}
	if integer {
		suffixes = []string{"bd", "d", "f", "l", "s", "y"}
	}
	for _, s := range suffixes {
		if len(text)-end >= len(s) && strings.EqualFold(text[end:end+len(s)], s) {
			end += len(s)
			break
		}
	}
	switch {
	case identifier(text, end) == end:
		return end
	case whole > pos && identifier(text, whole) == whole:
		return whole // "1.a" is 1, a dot and a
	}
	return 0
}

func backquoted(text string, pos int) (Token, error) {
	var name strings.Builder
	for i := pos + 1; i < len(text); i++ {
		if text[i] != '`' {
			name.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '`' {
			name.WriteByte('`')
			i++
			continue
		}
		return Token{Quoted, name.String(), pos, i + 1}, nil
	}
	return Token{}, &Error{pos, "this backquote has no partner"}
}
