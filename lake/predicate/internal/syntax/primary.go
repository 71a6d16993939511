package syntax

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/calendar"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/sql"
)

// reserved are the words that can't be bare column names here.
var reserved = []string{"and", "or", "in", "is", "between", "like", "rlike", "regexp", "when", "then", "else", "end", "from", "as", "escape", "where", "case", "group", "order"}

// primary reads a literal, a column, a call, CASE, CAST or parentheses.
func (p *parser) primary() (*Expr, error) {
	t := p.peek()
	switch t.Kind {
	case lex.String:
		p.take()
		return &Expr{Form: Literal, Pos: t.Pos, Value: Constant{sql.Type{Kind: sql.String}, sql.Value{S: t.Text}}}, nil
	case lex.Number:
		p.take()
		return number(t.Text, t.Pos)
	case lex.Quoted:
		p.take()
		return p.column(t)
	case lex.Ident:
		return p.word()
	}
	if p.accept("(") {
		e, err := p.parse(0)
		if err != nil {
			return nil, err
		}
		if p.peek().Is(",") {
			return nil, Faultf(p.peek().Pos, "a list of values in parentheses is no value").Fix("Compare the columns one by one.")
		}
		if e.Form == And || e.Form == Or {
			e.Text = "(" // parenthesised: an outer AND doesn't join it
		}
		return e, p.expect(")", "to close the parenthesis")
	}
	return nil, p.unexpected("a value")
}

func (p *parser) word() (*Expr, error) {
	t, next := p.peek(), p.peekAfter()
	word := strings.ToLower(t.Text)
	switch {
	case word == "null" || word == "true" || word == "false":
		p.take()
		e := &Expr{Form: Literal, Pos: t.Pos, Value: Constant{sql.Type{Kind: sql.Boolean}, sql.Bool(word == "true")}}
		if word == "null" {
			e.Value = Constant{sql.Type{}, sql.Null}
		}
		return e, nil
	case word == "case":
		return p.cases()
	case next.Kind == lex.String:
		p.take()
		return p.typedLiteral(t, p.take())
	case word == "interval" && next.Kind == lex.Number:
		return nil, Faultf(t.Pos, "intervals are not supported").Fix("Use date_add, date_sub or date arithmetic in days.")
	case word == "exists" && next.Is("("), word == "select":
		return nil, Faultf(t.Pos, "subqueries are not supported").Fix("List the values, or ask another tool for them first.")
	case (word == "cast" || word == "try_cast") && next.Is("("):
		return p.cast()
	case next.Is("("):
		return p.call()
	case slices.Contains(reserved, word):
		return nil, p.unexpected("a value")
	}
	p.take()
	return p.column(t)
}

func (p *parser) column(t lex.Token) (*Expr, error) {
	if p.peek().Is(".") {
		return nil, Faultf(t.Pos, "%q is followed by a dot", t.Text).Fix("Write the column's name alone; a name that holds a dot goes in backquotes as a whole.")
	}
	return &Expr{Form: Column, Pos: t.Pos, Text: t.Text, Quoted: t.Kind == lex.Quoted}, nil
}

// cases reads CASE [operand] WHEN … THEN … [ELSE …] END.
func (p *parser) cases() (*Expr, error) {
	e := &Expr{Form: Case, Pos: p.take().Pos}
	if !p.peek().Is("when") {
		operand, err := p.parse(0)
		if err != nil {
			return nil, err
		}
		e.Text, e.Kids = "simple", append(e.Kids, operand)
	}
	for first := true; first || p.peek().Is("when"); first = false {
		for _, word := range []string{"when", "then"} {
			if err := p.expect(word, "of CASE"); err != nil {
				return nil, err
			}
			kid, err := p.parse(0)
			if err != nil {
				return nil, err
			}
			e.Kids = append(e.Kids, kid)
		}
	}
	otherwise := &Expr{Form: Literal, Pos: p.peek().Pos, Value: Constant{sql.Type{}, sql.Null}}
	if p.accept("else") {
		var err error
		if otherwise, err = p.parse(0); err != nil {
			return nil, err
		}
	}
	e.Kids = append(e.Kids, otherwise)
	return e, p.expect("end", "of CASE")
}

func (p *parser) cast() (*Expr, error) {
	e := &Expr{Form: Cast, Pos: p.take().Pos}
	p.take() // the parenthesis
	kid, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect("as", "and a type"); err != nil {
		return nil, err
	}
	name := p.take()
	e.Kids, e.Text = []*Expr{kid}, name.Text
	if p.accept("(") {
		for e.Text += "("; ; e.Text += "," {
			size := p.take()
			if size.Kind != lex.Number {
				return nil, Faultf(size.Pos, "expected a number in the size of a type")
			}
			e.Text += size.Text
			if !p.accept(",") {
				break
			}
		}
		e.Text += ")"
		if err := p.expect(")", "to close the size of the type"); err != nil {
			return nil, err
		}
	}
	if _, ok := sql.ParseType(e.Text); !ok {
		return nil, Faultf(name.Pos, "%q is no type that can be cast to", e.Text).
			Fix("Types: string, boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), date, timestamp, timestamp_ntz, binary.")
	}
	return e, p.expect(")", "to close CAST")
}

func (p *parser) call() (*Expr, error) {
	t := p.take()
	p.take() // the parenthesis
	e := &Expr{Form: Call, Pos: t.Pos, Text: strings.ToLower(t.Text)}
	if err := p.calls(e.Text, e.Pos); err != nil {
		return nil, err
	}
	if p.accept(")") {
		return e, nil
	}
	list, err := p.list("an argument")
	e.Kids = list
	return e, err
}

// typedLiteral reads DATE '…', TIMESTAMP '…', TIMESTAMP_NTZ '…' and X'…'.
func (p *parser) typedLiteral(word, text lex.Token) (*Expr, error) {
	e := &Expr{Form: Literal, Pos: word.Pos}
	switch strings.ToLower(word.Text) {
	case "x":
		digits := text.Text
		if len(digits)%2 == 1 {
			digits = "0" + digits
		}
		bytes, err := hex.DecodeString(digits)
		if err != nil {
			return nil, Faultf(text.Pos, "X'%s' is not hexadecimal", text.Text)
		}
		e.Value = Constant{sql.Type{Kind: sql.Binary}, sql.Value{S: string(bytes)}}
	case "date":
		days, ok := calendar.ParseDate(text.Text)
		if !ok {
			return nil, Faultf(text.Pos, "'%s' is no date", text.Text).Fix("Write DATE '2024-01-31'.")
		}
		e.Value = Constant{sql.Type{Kind: sql.Date}, sql.Value{I: days}}
	case "timestamp", "timestamp_ltz", "timestamp_ntz":
		parsed, ok := calendar.ParseTimestamp(text.Text)
		ntz := word.Is("timestamp_ntz")
		if !ok || ntz && parsed.Zone != nil {
			return nil, Faultf(text.Pos, "'%s' is no %s", text.Text, strings.ToLower(word.Text)).Fix("Write TIMESTAMP '2024-01-31 10:00:00'.")
		}
		e.Value = Constant{sql.Type{Kind: sql.TimestampNTZ}, sql.Value{I: parsed.Wall}}
		if !ntz {
			e.Value = Constant{sql.Type{Kind: sql.Timestamp}, sql.Value{I: parsed.Instant(p.zone)}}
		}
	case "interval":
		return nil, Faultf(word.Pos, "intervals are not supported").Fix("Use date_add, date_sub or date arithmetic in days.")
	default:
		return nil, Faultf(text.Pos, "expected an operator after %q, found the string '%s'", word.Text, text.Text)
	}
	return e, nil
}

// number reads a numeric literal: an int, else a bigint, else a decimal; with a
// point a decimal, with an exponent a double, unless a suffix says otherwise.
func number(text string, pos int) (*Expr, error) {
	out := func(k sql.Kind, v sql.Value) (*Expr, error) {
		return &Expr{Form: Literal, Pos: pos, Value: Constant{sql.Type{Kind: k}, v}}, nil
	}
	digits := strings.ToLower(text)
	exponent := strings.Contains(digits, "e")
	for _, s := range []struct {
		suffix string
		Kind   sql.Kind
	}{{"bd", sql.Decimal}, {"l", sql.Long}, {"s", sql.Short}, {"y", sql.Byte}, {"d", sql.Double}, {"f", sql.Float}} {
		body, ok := strings.CutSuffix(digits, s.suffix)
		if !ok {
			continue
		}
		switch s.Kind {
		case sql.Decimal:
			return decimal(body, text, pos)
		case sql.Double, sql.Float:
			f, err := strconv.ParseFloat(body, map[sql.Kind]int{sql.Double: 64, sql.Float: 32}[s.Kind])
			if err != nil {
				return nil, Faultf(pos, "%s is out of range", text)
			}
			return out(s.Kind, sql.Value{F: f})
		}
		i, err := strconv.ParseInt(body, 10, map[sql.Kind]int{sql.Long: 64, sql.Short: 16, sql.Byte: 8}[s.Kind])
		if err != nil {
			return nil, Faultf(pos, "%s is out of range", text)
		}
		return out(s.Kind, sql.Value{I: i})
	}
	if exponent {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return nil, Faultf(pos, "%s is out of range", text)
		}
		return out(sql.Double, sql.Value{F: f})
	}
	if !strings.Contains(digits, ".") {
		if i, err := strconv.ParseInt(digits, 10, 32); err == nil {
			return out(sql.Int, sql.Value{I: i})
		}
		if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return out(sql.Long, sql.Value{I: i})
		}
	}
	return decimal(digits, text, pos)
}

func decimal(digits, text string, pos int) (*Expr, error) {
	t, v, ok := sql.DecimalLiteral(digits)
	if !ok {
		return nil, Faultf(pos, "%s has more than %d digits", text, sql.MaxPrecision)
	}
	return &Expr{Form: Literal, Pos: pos, Value: Constant{t, v}}, nil
}
