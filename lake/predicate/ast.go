package predicate

import "github.com/lakesweep/lakesweep/lake/predicate/internal/lex"

// form is the shape of a parsed expression.
type form uint8

const (
	fLiteral form = iota
	fColumn
	fNegate
	fBinary // text is the operator
	fNot
	fAnd
	fOr
	fIsNull
	fIn      // kids[0] in the rest
	fBetween // kids: value, low, high
	fLike    // kids: value, pattern; text is the escape
	fRLike
	fCase // kids: conditions and results in turn, then the other result; text "simple" puts the operand first
	fCast // text is the type
	fCall // text is the function's name, in lower case
)

// expr is a parsed expression; its place is that of the word or sign that
// makes it.
type expr struct {
	form    form
	pos     int
	text    string
	negated bool // NOT IN, IS NOT NULL, …
	quoted  bool // a column's name in backquotes
	value   literal
	kids    []*expr
}

// literal is a constant with its type.
type literal struct {
	typ   typ
	value value
}

// depthLimit bounds the recursion of the parser: parentheses, CASE and NOT.
const depthLimit = 200

// sizeLimit bounds the text of a predicate, in bytes.
const sizeLimit = 1 << 20

type parser struct {
	tokens []lex.Token
	next   int
	depth  int
	opts   Options
}
