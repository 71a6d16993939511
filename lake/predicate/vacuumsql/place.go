package vacuumsql

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
)

// place reads 'path' or ident(.ident)*.
func (p *parser) place(what string) (Inventory, error) {
	if t := p.peek(); t.Kind == lex.String {
		p.take()
		if strings.TrimSpace(t.Text) == "" {
			return Inventory{}, faultf(t.Pos, "", "the path of %s is empty", what)
		}
		return Inventory{Path: t.Text}, nil
	}
	start := p.peek().Pos
	var name []string
	quoted := false
	for {
		t := p.take()
		if t.Kind != lex.Ident && t.Kind != lex.Quoted || t.Text == "" {
			return Inventory{}, faultf(t.Pos, "", "expected the path or name of %s, found %s", what, describe(t))
		}
		name, quoted = append(name, t.Text), t.Kind == lex.Quoted
		if !p.accept(".") {
			break
		}
	}
	last := name[len(name)-1]
	isPath := quoted && strings.Contains(last, "/")
	if len(name) == 2 && (isPath || quoted && slices.Contains(formats, strings.ToLower(name[0]))) {
		format := strings.ToLower(name[0])
		if !slices.Contains(formats, format) {
			return Inventory{}, faultf(start, "Formats: "+strings.Join(formats, ", ")+".", "unknown format %q before a path", name[0])
		}
		return Inventory{Path: last, Format: format}, nil
	}
	if len(name) == 1 && isPath {
		return Inventory{Path: last}, nil
	}
	return Inventory{Name: name}, nil
}

// formats are the words that may stand before a path.
var formats = []string{"delta", "hudi", "parquet", "csv", "json"}

// inventory reads what follows USING.
func (p *parser) inventory() (*Inventory, error) {
	if err := p.expect("INVENTORY", "USING"); err != nil {
		return nil, err
	}
	open := p.peek()
	if !p.accept("(") {
		place, err := p.place("the inventory")
		return &place, err
	}
	from := p.next
	for depth := 1; depth > 0; {
		t := p.take()
		switch {
		case t.Kind == lex.EOF:
			return nil, faultf(open.Pos, "", "this parenthesis isn't closed")
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		}
	}
	inside := p.tokens[from : p.next-1]
	switch {
	case len(inside) == 0:
		return nil, faultf(open.Pos, "", "the inventory in parentheses is empty")
	case len(inside) == 1 && inside[0].Kind == lex.String && strings.TrimSpace(inside[0].Text) == "":
		return nil, faultf(inside[0].Pos, "", "the path of the inventory is empty")
	case len(inside) == 1 && inside[0].Kind == lex.String:
		return &Inventory{Path: inside[0].Text}, nil
	}
	return &Inventory{Query: p.text[inside[0].Pos:inside[len(inside)-1].End]}, nil
}

// hoursLimit is the longest retention that is taken for meant: a century.
const hoursLimit = 100 * 366 * 24

// retain reads number HOURS, exactly.
//
// Source: spec/delta-vacuum.md 3.2: what Java reads as a double, of which
// lakesweep refuses the negative ones and rounds nothing down.
func (p *parser) retain() (*time.Duration, error) {
	t := p.take()
	if t.Is("-") {
		return nil, faultf(t.Pos, "Write a number of hours, 0 or more.", "a retention can't be negative")
	}
	if t.Kind != lex.Number {
		return nil, faultf(t.Pos, "Write RETAIN 168 HOURS.", "expected a number after RETAIN, found %s", describe(t))
	}
	digits := strings.ToLower(t.Text)
	if n := len(digits); strings.HasSuffix(digits, "d") && !strings.HasSuffix(digits, "bd") || strings.HasSuffix(digits, "f") {
		digits = digits[:n-1]
	}
	_, exponent, _ := strings.Cut(digits, "e")
	float, err := strconv.ParseFloat(digits, 64)
	if err != nil || len(exponent) > 4 || float > hoursLimit {
		return nil, faultf(t.Pos, "Write a number of hours up to 878400, such as 168 or 0.5.", "%s is no sensible number of hours", t.Text)
	}
	if next := p.peek(); !p.accept("hours") {
		return nil, faultf(next.Pos, "Write RETAIN "+t.Text+" HOURS.", "expected HOURS after RETAIN %s, found %s", t.Text, describe(next))
	}
	hours, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, faultf(t.Pos, "", "%s is no number", t.Text)
	}
	millis := hours.Mul(hours, big.NewRat(3_600_000, 1))
	whole, rest := new(big.Int).QuoRem(millis.Num(), millis.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	d := time.Duration(whole.Int64()) * time.Millisecond
	return &d, nil
}
