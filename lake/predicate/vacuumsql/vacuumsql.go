// Package vacuumsql reads the VACUUM statement of Delta Lake's SQL, with a
// WHERE after the table. It resolves no names and compiles no predicate.
package vacuumsql

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
)

// Statement is a VACUUM as it was written. Exactly one of Path and Name is set.
type Statement struct {
	Path   string   // of 'path', "path", delta.`path` and `path`
	Format string   // "delta" or "hudi" where it stood before the path
	Name   []string // the parts of a table's name, which needs a catalog

	Where       string // "" without a filter
	WhereOffset int    // bytes, of Where in the statement

	Mode      string         // "full", "lite" or ""
	Retain    *time.Duration // nil without RETAIN; rounded up to milliseconds
	Inventory *Inventory     // nil without USING INVENTORY
	DryRun    bool
}

// Inventory is what USING INVENTORY names. Exactly one of Path, Name and Query is set.
type Inventory struct {
	Path   string   // of 'path', ('path'), parquet.`path` and `path`
	Format string   // "delta", "parquet", "csv" or "json" where it stood before the path
	Name   []string // the parts of a table's name
	Query  string   // the text between the parentheses
}

// Parse reads one statement:
//
//	VACUUM [FROM] ( 'path' | ident(.ident)* ) [WHERE condition] modifier* ;*
//	modifier := LITE | FULL | RETAIN number HOURS | DRY RUN
//	          | USING INVENTORY ( 'path' | ident(.ident)* | "(" query ")" )
//
// Modifiers come in any order, each kind once. Keywords are in any case and not
// reserved; the condition ends at the first bare LITE, FULL, USING, RETAIN or
// DRY outside parentheses.
//
// Errors: Invalid, with a caret under the place.
// Source: spec/delta-vacuum.md 6.1 and 6.3; DeltaSqlBase.g4 of Delta 4.
func Parse(text string) (Statement, error) {
	p := parser{text: text}
	var err error
	if len(text) > sizeLimit {
		err = &lex.Error{Pos: 0, Msg: fmt.Sprintf("the statement is longer than %d bytes", sizeLimit)}
	}
	if err == nil {
		p.tokens, err = lex.Split(text)
	}
	if err == nil {
		err = p.statement()
	}
	if err == nil {
		return p.out, nil
	}
	pos, hint := 0, usage
	if e, ok := errors.AsType[*lex.Error](err); ok {
		pos = e.Pos
	}
	if e, ok := errors.AsType[*fault](err); ok {
		pos = e.pos
		if e.hint != "" {
			hint = e.hint
		}
	}
	return Statement{}, &lake.Error{Op: "read statement", Kind: lake.Invalid, Err: fmt.Errorf("%w\n%s", err, predicate.Caret(text, pos)), Hint: hint}
}

// sizeLimit bounds a statement, in bytes.
const sizeLimit = 2 << 20

const usage = "Write VACUUM delta.`s3://bucket/table` [WHERE condition] [LITE | FULL] [USING INVENTORY (…)] [RETAIN n HOURS] [DRY RUN]."

type fault struct {
	pos       int
	msg, hint string
}

func (f *fault) Error() string { return f.msg }

func faultf(pos int, hint, format string, args ...any) error {
	return &fault{pos, fmt.Sprintf(format, args...), hint}
}

type parser struct {
	text   string
	tokens []lex.Token
	next   int
	out    Statement
}

func (p *parser) peek() lex.Token { return p.tokens[p.next] }

func (p *parser) take() lex.Token {
	t := p.peek()
	if t.Kind != lex.EOF {
		p.next++
	}
	return t
}

func (p *parser) accept(word string) bool {
	if p.peek().Is(word) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(word, after string) error {
	if p.accept(word) {
		return nil
	}
	return faultf(p.peek().Pos, "", "expected %s after %s, found %s", word, after, describe(p.peek()))
}

func describe(t lex.Token) string {
	switch t.Kind {
	case lex.EOF:
		return "the end of the statement"
	case lex.String:
		return "the string '" + t.Text + "'"
	}
	return fmt.Sprintf("%q", t.Text)
}

func (p *parser) statement() error {
	if t := p.peek(); !p.accept("vacuum") {
		return faultf(t.Pos, "", "expected VACUUM, found %s", describe(t))
	}
	p.accept("from")
	place, err := p.place("the table")
	if err != nil {
		return err
	}
	p.out.Path, p.out.Format, p.out.Name = place.Path, place.Format, place.Name
	switch p.out.Format {
	case "", "delta", "hudi":
	default:
		return faultf(0, "", "a table of the format %q can't be vacuumed", p.out.Format)
	}
	if err := p.where(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for t := p.peek(); t.Kind != lex.EOF && !t.Is(";"); t = p.peek() {
		kind, err := p.modifier()
		if err != nil {
			return err
		}
		if seen[kind] {
			return faultf(t.Pos, "Give each clause once.", "found duplicate clauses: %s", kind)
		}
		seen[kind] = true
	}
	for p.accept(";") {
	}
	if t := p.peek(); t.Kind != lex.EOF {
		return faultf(t.Pos, "Give one statement at a time.", "expected the end of the statement, found %s", describe(t))
	}
	return nil
}

// where reads the condition as text.
func (p *parser) where() error {
	t := p.peek()
	if !p.accept("where") {
		return nil
	}
	first, end, depth := p.peek(), 0, 0
	for ; ; p.next++ {
		t := p.peek()
		if t.Kind == lex.EOF || depth == 0 && (t.Is(";") || modifies(t)) {
			break
		}
		if t.Is("(") {
			depth++
		}
		if t.Is(")") && depth > 0 {
			depth--
		}
		end = t.End
	}
	if end == 0 {
		return faultf(first.Pos, "A column named like a keyword goes in backquotes.", "WHERE has no condition")
	}
	if depth > 0 {
		return faultf(t.Pos, "", "a parenthesis of the condition isn't closed")
	}
	p.out.Where, p.out.WhereOffset = p.text[first.Pos:end], first.Pos
	return nil
}

func modifies(t lex.Token) bool {
	return t.Is("lite") || t.Is("full") || t.Is("using") || t.Is("retain") || t.Is("dry")
}

// modifier reads one and returns its kind, as the message about duplicates names it.
func (p *parser) modifier() (kind string, err error) {
	t := p.take()
	switch {
	case t.Is("lite"), t.Is("full"):
		if p.out.Mode == "" {
			p.out.Mode = strings.ToLower(t.Text)
		}
		return "LITE/FULL", nil
	case t.Is("using"):
		p.out.Inventory, err = p.inventory()
		return "INVENTORY", err
	case t.Is("retain"):
		p.out.Retain, err = p.retain()
		return "RETAIN", err
	case t.Is("dry"):
		p.out.DryRun = true
		return "DRY RUN", p.expect("RUN", "DRY")
	case t.Is("where"):
		return "", faultf(t.Pos, usage, "WHERE goes right after the table")
	case t.Is("inventory"):
		return "", faultf(t.Pos, "Write USING INVENTORY.", "expected USING before INVENTORY")
	}
	return "", faultf(t.Pos, "", "expected LITE, FULL, USING INVENTORY, RETAIN, DRY RUN or the end, found %s", describe(t))
}
