package predicate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/lex"
	"github.com/lakesweep/lakesweep/lake/predicate/internal/syntax"
)

// invalid turns err, of Compile's own functions, into the error for the user.
func invalid(text string, s Schema, err error) error {
	out := &lake.Error{Op: "read predicate", Kind: lake.Invalid, Err: err}
	f, ok := errors.AsType[*syntax.Fault](err)
	if e, isLex := errors.AsType[*lex.Error](err); isLex {
		f, ok = syntax.Faultf(e.Pos, "%s", e.Msg), true
	}
	if !ok {
		return out
	}
	out.Err = fmt.Errorf("%s\n%s", f.Msg, Caret(text, f.Pos))
	out.Hint = f.Hint
	if len(s.Partition) > 0 {
		out.Hint = strings.TrimSpace(out.Hint + " Partition columns: " + columnList(s) + ".")
	}
	return out
}

func columnList(s Schema) string {
	names := make([]string, len(s.Partition))
	for i, c := range s.Partition {
		names[i] = c.Name + " (" + c.Type + ")"
	}
	return strings.Join(names, ", ")
}

// Caret shows the line of text that holds the byte offset pos, and under it a
// caret at that place. Long lines are cut around it.
func Caret(text string, pos int) string {
	const around = 60 // bytes shown before and after the place
	pos = min(max(pos, 0), len(text))
	start := strings.LastIndexByte(text[:pos], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
		end = pos + n
	}
	before, after := text[start:pos], text[pos:end]
	if len(before) > around {
		before = "…" + strings.ToValidUTF8(before[len(before)-around:], "")
	}
	if len(after) > around {
		after = strings.ToValidUTF8(after[:around], "") + "…"
	}
	flat := strings.NewReplacer("\t", " ", "\r", "")
	before = flat.Replace(before)
	return "  " + before + flat.Replace(after) + "\n  " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}
