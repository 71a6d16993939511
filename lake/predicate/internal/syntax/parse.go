package syntax

import (
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
)

// Binding powers, loosest first.
//
// Source: booleanExpression and valueExpression in SqlBaseParser.g4 of Spark 3.5.
const (
	bindOr = 1 + iota
	bindAnd
	bindNot
	bindPredicate // IS, IN, BETWEEN, LIKE, RLIKE: one at most
	bindCompare
	bindAdd // + - ||
	bindMultiply
	bindUnary
	bindAll
)

// Parse reads a whole predicate. Timestamps that name no zone are wall clocks of
// zone; calls says why a function can't be called, nil if it can.
//
// Errors: *Fault and *lex.Error.
func Parse(text string, zone *time.Location, calls func(name string, pos int) error) (*Expr, error) {
	if len(text) > sizeLimit {
		return nil, Faultf(sizeLimit, "the predicate is longer than %d bytes", sizeLimit)
	}
	tokens, err := lex.Split(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, zone: zone, calls: calls}
	if p.peek().Kind == lex.EOF {
		return nil, Faultf(0, "the predicate is empty")
	}
	e, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.Kind != lex.EOF {
		return nil, p.unexpected("an operator or the end of the predicate")
	}
	return e, nil
}

func (p *parser) peek() lex.Token { return p.tokens[p.next] }

func (p *parser) peekAfter() lex.Token { return p.tokens[min(p.next+1, len(p.tokens)-1)] }

func (p *parser) take() lex.Token {
	t := p.tokens[p.next]
	if t.Kind != lex.EOF {
		p.next++
	}
	return t
}

// accept takes the next token if it is s.
func (p *parser) accept(s string) bool {
	if p.peek().Is(s) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(s, why string) error {
	if p.accept(s) {
		return nil
	}
	return p.unexpected(s + " " + why)
}

func (p *parser) unexpected(wanted string) error {
	t := p.peek()
	switch {
	case t.Kind == lex.EOF:
		return Faultf(t.Pos, "the predicate ends here, where %s should follow", wanted)
	case t.Kind == lex.String:
		return Faultf(t.Pos, "expected %s, found the string '%s'", wanted, t.Text)
	case t.Is("select") || t.Is("with") || t.Is("values"):
		return Faultf(t.Pos, "subqueries are not supported").Fix("List the values, or ask another tool for them first.")
	}
	return Faultf(t.Pos, "expected %s, found %q", wanted, t.Text)
}

// parse reads an expression whose operators all bind at least as tightly as least.
func (p *parser) parse(least int) (*Expr, error) {
	if p.depth++; p.depth > depthLimit {
		return nil, Faultf(p.peek().Pos, "nested more than %d levels deep", depthLimit)
	}
	defer func() { p.depth-- }()
	left, most, err := p.prefix(least)
	for err == nil {
		op, bind := p.operator()
		if bind == 0 || bind < least || bind > most {
			return left, nil
		}
		switch t := p.peek(); bind {
		case bindPredicate:
			left, err = p.predicate(left)
			most = bindAnd
		default:
			p.take()
			var right *Expr
			right, err = p.parse(bind + 1)
			left, most = join(op, t.Pos, left, right), bind
		}
	}
	return nil, err
}

// join makes an operator's expression. ANDs and ORs in a row become one.
func join(op string, pos int, left, right *Expr) *Expr {
	f := Binary
	switch op {
	case "and":
		f = And
	case "or":
		f = Or
	}
	if f != Binary && left.Form == f && left.Text == "" {
		left.Kids = append(left.Kids, right)
		return left
	}
	e := &Expr{Form: f, Pos: pos, Kids: []*Expr{left, right}}
	if f == Binary {
		e.Text = op
	}
	return e
}

// operator returns the operator that comes next and how tightly it binds, 0 if there is none.
func (p *parser) operator() (string, int) {
	t := p.peek()
	if t.Kind == lex.Op {
		switch t.Text {
		case "=", "==":
			return "=", bindCompare
		case "<>", "!=":
			return "<>", bindCompare
		case "<", "<=", ">", ">=", "<=>":
			return t.Text, bindCompare
		case "+", "-", "||":
			return t.Text, bindAdd
		case "*", "/", "%":
			return t.Text, bindMultiply
		}
		return "", 0
	}
	if t.Kind != lex.Ident {
		return "", 0
	}
	switch word := strings.ToLower(t.Text); word {
	case "or":
		return word, bindOr
	case "and":
		return word, bindAnd
	case "is", "in", "between", "like", "rlike", "regexp":
		return word, bindPredicate
	case "not":
		switch next := p.peekAfter(); {
		case next.Is("in"), next.Is("between"), next.Is("like"), next.Is("rlike"), next.Is("regexp"):
			return word, bindPredicate
		}
	}
	return "", 0
}

// prefix reads what an expression begins with, and tells how tight an operator may still take it.
func (p *parser) prefix(least int) (*Expr, int, error) {
	t := p.peek()
	switch {
	case t.Is("not") || t.Is("!"):
		if least > bindNot {
			return nil, 0, Faultf(t.Pos, "NOT binds less tightly than the operator before it").Fix("Put NOT and its operand in parentheses.")
		}
		p.take()
		kid, err := p.parse(bindNot)
		return &Expr{Form: Not, Pos: t.Pos, Kids: []*Expr{kid}}, bindAnd, err
	case t.Is("-") || t.Is("+"):
		p.take()
		if next := p.peek(); next.Kind == lex.Number && t.Is("-") {
			p.take()
			e, err := number("-"+next.Text, t.Pos)
			return e, bindAll, err
		}
		kid, err := p.parse(bindUnary)
		if err != nil || t.Is("+") {
			return kid, bindUnary, err
		}
		return &Expr{Form: Negate, Pos: t.Pos, Kids: []*Expr{kid}}, bindUnary, nil
	}
	e, err := p.primary()
	return e, bindAll, err
}

// predicate reads [NOT] IN, BETWEEN, LIKE, RLIKE and IS [NOT] NULL after their left side.
func (p *parser) predicate(left *Expr) (*Expr, error) {
	e := &Expr{Pos: p.peek().Pos, Negated: p.accept("not"), Kids: []*Expr{left}}
	switch {
	case p.accept("is"):
		e.Form, e.Negated = IsNull, p.accept("not")
		return e, p.expect("null", "after IS")
	case p.accept("in"):
		e.Form = In
		if err := p.expect("(", "after IN"); err != nil {
			return nil, err
		}
		list, err := p.list("a value of the list")
		e.Kids = append(e.Kids, list...)
		return e, err
	case p.accept("between"):
		e.Form = Between
		low, err := p.parse(bindCompare)
		if err != nil {
			return nil, err
		}
		if err := p.expect("and", "and the upper bound of BETWEEN"); err != nil {
			return nil, err
		}
		high, err := p.parse(bindCompare)
		e.Kids = append(e.Kids, low, high)
		return e, err
	}
	word := p.take()
	if next := p.peek(); (next.Is("any") || next.Is("all") || next.Is("some")) && p.peekAfter().Is("(") {
		return nil, Faultf(next.Pos, "%s %s is not supported", word.Text, next.Text).Fix("Write the patterns one by one with OR or AND.")
	}
	pattern, err := p.parse(bindCompare)
	e.Kids = append(e.Kids, pattern)
	if e.Form = RLike; !word.Is("like") {
		return e, err
	}
	e.Form, e.Text = Like, `\`
	if err == nil && p.accept("escape") {
		t := p.take()
		if e.Text = t.Text; t.Kind != lex.String || len([]rune(t.Text)) != 1 {
			return nil, Faultf(t.Pos, "ESCAPE wants a string of one character")
		}
	}
	return e, err
}

// list reads expressions up to the closing parenthesis; at least one.
func (p *parser) list(what string) ([]*Expr, error) {
	var list []*Expr
	for {
		if p.peek().Is(")") {
			return nil, p.unexpected(what)
		}
		e, err := p.parse(0)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if p.accept(")") {
			return list, nil
		}
		if err := p.expect(",", "or )"); err != nil {
			return nil, err
		}
	}
}
