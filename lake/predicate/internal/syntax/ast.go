package syntax

import (
	"time"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
)

// Form is the shape of a parsed expression.
type Form uint8

// The forms.
const (
	Literal Form = iota
	Column
	Negate
	Binary // Text is the operator
	Not
	And
	Or
	IsNull
	In      // Kids[0] in the rest
	Between // Kids: value, low, high
	Like    // Kids: value, pattern; Text is the escape
	RLike
	Case // Kids: conditions and results in turn, then the other result; Text "simple" puts the operand first
	Cast // Text is the type
	Call // Text is the function's name, in lower case
)

// Expr is a parsed expression; its place is that of the word or sign that
// makes it.
type Expr struct {
	Form    Form
	Pos     int // bytes
	Text    string
	Negated bool // NOT IN, IS NOT NULL, …
	Quoted  bool // a column's name in backquotes
	Value   Constant
	Kids    []*Expr
}

// Constant is a constant with its type.
type Constant struct {
	Type  sql.Type
	Value sql.Value
}

// depthLimit bounds the recursion of the parser: parentheses, CASE and NOT.
const depthLimit = 200

// sizeLimit bounds the text of a predicate, in bytes.
const sizeLimit = 1 << 20

type parser struct {
	tokens []lex.Token
	next   int
	depth  int
	zone   *time.Location // of timestamps that name none
	calls  func(name string, pos int) error
}
