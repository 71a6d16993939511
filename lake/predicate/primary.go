package predicate

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
)

// reserved are the words that can't be bare column names here.
var reserved = []string{"and", "or", "in", "is", "between", "like", "rlike", "regexp", "when", "then", "else", "end", "from", "as", "escape", "where", "case", "group", "order"}

// primary reads a literal, a column, a call, CASE, CAST or parentheses.
func (p *parser) primary() (*expr, error) {
	t := p.peek()
	switch t.Kind {
	case lex.String:
		p.take()
		return &expr{form: fLiteral, pos: t.Pos, value: literal{typ{kind: kString}, value{s: t.Text}}}, nil
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
			return nil, faultf(p.peek().Pos, "a list of values in parentheses is no value").fix("Compare the columns one by one.")
		}
		if e.form == fAnd || e.form == fOr {
			e.text = "(" // parenthesised: an outer AND doesn't join it
		}
		return e, p.expect(")", "to close the parenthesis")
	}
	return nil, p.unexpected("a value")
}

func (p *parser) word() (*expr, error) {
	t, next := p.peek(), p.peekAfter()
	word := strings.ToLower(t.Text)
	switch {
	case word == "null" || word == "true" || word == "false":
		p.take()
		e := &expr{form: fLiteral, pos: t.Pos, value: literal{typ{kind: kBoolean}, boolean(word == "true")}}
		if word == "null" {
			e.value = literal{typ{}, null}
		}
		return e, nil
	case word == "case":
		return p.cases()
	case next.Kind == lex.String:
		p.take()
		return p.typedLiteral(t, p.take())
	case word == "interval" && next.Kind == lex.Number:
		return nil, faultf(t.Pos, "intervals are not supported").fix("Use date_add, date_sub or date arithmetic in days.")
	case word == "exists" && next.Is("("), word == "select":
		return nil, faultf(t.Pos, "subqueries are not supported").fix("List the values, or ask another tool for them first.")
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

func (p *parser) column(t lex.Token) (*expr, error) {
	if p.peek().Is(".") {
		return nil, faultf(t.Pos, "%q is followed by a dot", t.Text).fix("Write the column's name alone; a name that holds a dot goes in backquotes as a whole.")
	}
	return &expr{form: fColumn, pos: t.Pos, text: t.Text, quoted: t.Kind == lex.Quoted}, nil
}

// cases reads CASE [operand] WHEN … THEN … [ELSE …] END.
func (p *parser) cases() (*expr, error) {
	e := &expr{form: fCase, pos: p.take().Pos}
	if !p.peek().Is("when") {
		operand, err := p.parse(0)
		if err != nil {
			return nil, err
		}
		e.text, e.kids = "simple", append(e.kids, operand)
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
			e.kids = append(e.kids, kid)
		}
	}
	otherwise := &expr{form: fLiteral, pos: p.peek().Pos, value: literal{typ{}, null}}
	if p.accept("else") {
		var err error
		if otherwise, err = p.parse(0); err != nil {
			return nil, err
		}
	}
	e.kids = append(e.kids, otherwise)
	return e, p.expect("end", "of CASE")
}

func (p *parser) cast() (*expr, error) {
	e := &expr{form: fCast, pos: p.take().Pos}
	p.take() // the parenthesis
	kid, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect("as", "and a type"); err != nil {
		return nil, err
	}
	name := p.take()
	e.kids, e.text = []*expr{kid}, name.Text
	if p.accept("(") {
		for e.text += "("; ; e.text += "," {
			size := p.take()
			if size.Kind != lex.Number {
				return nil, faultf(size.Pos, "expected a number in the size of a type")
			}
			e.text += size.Text
			if !p.accept(",") {
				break
			}
		}
		e.text += ")"
		if err := p.expect(")", "to close the size of the type"); err != nil {
			return nil, err
		}
	}
	if _, ok := parseType(e.text); !ok {
		return nil, faultf(name.Pos, "%q is no type that can be cast to", e.text).
			fix("Types: string, boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), date, timestamp, timestamp_ntz, binary.")
	}
	return e, p.expect(")", "to close CAST")
}

func (p *parser) call() (*expr, error) {
	t := p.take()
	p.take() // the parenthesis
	e := &expr{form: fCall, pos: t.Pos, text: strings.ToLower(t.Text)}
	if fault := unsupportedCall(e); fault != nil {
		return nil, fault
	}
	if p.accept(")") {
		return e, nil
	}
	list, err := p.list("an argument")
	e.kids = list
	return e, err
}

// typedLiteral reads DATE '…', TIMESTAMP '…', TIMESTAMP_NTZ '…' and X'…'.
func (p *parser) typedLiteral(word, text lex.Token) (*expr, error) {
	e := &expr{form: fLiteral, pos: word.Pos}
	switch strings.ToLower(word.Text) {
	case "x":
		digits := text.Text
		if len(digits)%2 == 1 {
			digits = "0" + digits
		}
		bytes, err := hex.DecodeString(digits)
		if err != nil {
			return nil, faultf(text.Pos, "X'%s' is not hexadecimal", text.Text)
		}
		e.value = literal{typ{kind: kBinary}, value{s: string(bytes)}}
	case "date":
		days, ok := parseDate(text.Text)
		if !ok {
			return nil, faultf(text.Pos, "'%s' is no date", text.Text).fix("Write DATE '2024-01-31'.")
		}
		e.value = literal{typ{kind: kDate}, value{i: days}}
	case "timestamp", "timestamp_ltz", "timestamp_ntz":
		parsed, ok := parseTimestamp(text.Text)
		ntz := word.Is("timestamp_ntz")
		if !ok || ntz && parsed.zone != nil {
			return nil, faultf(text.Pos, "'%s' is no %s", text.Text, strings.ToLower(word.Text)).fix("Write TIMESTAMP '2024-01-31 10:00:00'.")
		}
		e.value = literal{typ{kind: kTimestampNTZ}, value{i: parsed.wall}}
		if !ntz {
			e.value = literal{typ{kind: kTimestamp}, value{i: parsed.instant(p.opts.zone())}}
		}
	case "interval":
		return nil, faultf(word.Pos, "intervals are not supported").fix("Use date_add, date_sub or date arithmetic in days.")
	default:
		return nil, faultf(text.Pos, "expected an operator after %q, found the string '%s'", word.Text, text.Text)
	}
	return e, nil
}

// number reads a numeric literal: an int, else a bigint, else a decimal; with a
// point a decimal, with an exponent a double, unless a suffix says otherwise.
func number(text string, pos int) (*expr, error) {
	out := func(k kind, v value) (*expr, error) {
		return &expr{form: fLiteral, pos: pos, value: literal{typ{kind: k}, v}}, nil
	}
	digits := strings.ToLower(text)
	exponent := strings.Contains(digits, "e")
	for _, s := range []struct {
		suffix string
		kind   kind
	}{{"bd", kDecimal}, {"l", kLong}, {"s", kShort}, {"y", kByte}, {"d", kDouble}, {"f", kFloat}} {
		body, ok := strings.CutSuffix(digits, s.suffix)
		if !ok {
			continue
		}
		switch s.kind {
		case kDecimal:
			return decimalLiteral(body, text, pos)
		case kDouble, kFloat:
			f, err := strconv.ParseFloat(body, map[kind]int{kDouble: 64, kFloat: 32}[s.kind])
			if err != nil {
				return nil, faultf(pos, "%s is out of range", text)
			}
			return out(s.kind, value{f: f})
		}
		i, err := strconv.ParseInt(body, 10, map[kind]int{kLong: 64, kShort: 16, kByte: 8}[s.kind])
		if err != nil {
			return nil, faultf(pos, "%s is out of range", text)
		}
		return out(s.kind, value{i: i})
	}
	if exponent {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return nil, faultf(pos, "%s is out of range", text)
		}
		return out(kDouble, value{f: f})
	}
	if !strings.Contains(digits, ".") {
		if i, err := strconv.ParseInt(digits, 10, 32); err == nil {
			return out(kInt, value{i: i})
		}
		if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return out(kLong, value{i: i})
		}
	}
	return decimalLiteral(digits, text, pos)
}

func decimalLiteral(digits, text string, pos int) (*expr, error) {
	unscaled, scale, ok := parseDecimal(digits)
	if ok && scale < 0 {
		unscaled, scale = new(big.Int).Mul(unscaled, pow10(-scale)), 0
	}
	if !ok || scale > maxPrecision || max(digitCount(unscaled), scale) > maxPrecision {
		return nil, faultf(pos, "%s has more than %d digits", text, maxPrecision)
	}
	t := typ{kind: kDecimal, precision: max(digitCount(unscaled), scale), scale: scale}
	return &expr{form: fLiteral, pos: pos, value: literal{t, value{d: unscaled}}}, nil
}
