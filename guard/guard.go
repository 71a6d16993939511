package guard

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// Options are the wishes of the command line that guards weigh. Each override
// is empty or names the table as given there. The zero value overrides nothing.
type Options struct {
	RetainBelow     string        // --unsafe-retain-below
	MostlyDead      string        // --unsafe-mostly-dead
	MissingLive     string        // --unsafe-missing-live
	MaxInventoryAge time.Duration // --max-inventory-age; 0: any age
}

// A check is one guard. It looks at the head alone.
type check struct {
	code string
	fix  string
	// flag and value are the override, if there is one.
	flag  string
	value func(Options) string
	// judge returns what the guard says; an empty detail means that the guard has nothing to do with this plan.
	judge func(h *filelist.Head, o Options) (filelist.Outcome, string)
}

// all are the guards in the order in which their outcomes are shown.
func all() []check {
	return append(append(liveChecks(), timeChecks()...), placeChecks()...)
}

// Codes returns the code of every guard, as docs/guards.md describes them.
func Codes() []string {
	var codes []string
	for _, c := range all() {
		codes = append(codes, c.code)
	}
	return codes
}

// Check judges a plan's head by every guard that applies, in a fixed order.
// The result belongs in Head.Guards before the plan is written.
//
// Errors: Invalid if an override names another table than Head.Given.
func Check(h filelist.Head, o Options) ([]filelist.Guard, error) {
	var guards []filelist.Guard
	for _, c := range all() {
		given := ""
		if c.value != nil {
			given = c.value(o)
		}
		if given != "" && given != h.Given {
			return nil, &lake.Error{Op: "check guards", Table: h.Table, Kind: lake.Invalid, Code: c.code,
				Err:  fmt.Errorf("%s names %q, but the table is %q", c.flag, given, h.Given),
				Hint: "An override takes the table exactly as the command line gives it, so that it can't be pasted onto another table."}
		}
		outcome, detail := c.judge(&h, o)
		if detail == "" {
			continue
		}
		g := filelist.Guard{Code: c.code, Outcome: outcome, Detail: detail}
		if outcome == filelist.Refused && given != "" {
			g.Outcome = filelist.Overridden
		}
		if g.Outcome == filelist.Refused || g.Outcome == filelist.Warned {
			g.Fix = c.fix
			if c.flag != "" {
				g.Fix += fmt.Sprintf(" If you know better: %s %s.", c.flag, quote(h.Given))
			}
		}
		guards = append(guards, g)
	}
	return guards, nil
}

// Refusal returns an error of kind Refused that names the guards that refuse,
// nil if none does.
func Refusal(h filelist.Head) error {
	var refused []filelist.Guard
	for _, g := range h.Guards {
		if g.Outcome == filelist.Refused {
			refused = append(refused, g)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	details := make([]string, len(refused))
	for i, g := range refused {
		details[i] = fmt.Sprintf("%s: %s", g.Code, g.Detail)
	}
	return &lake.Error{Op: "check guards", Table: h.Table, Kind: lake.Refused, Code: refused[0].Code,
		Err: errors.New(strings.Join(details, "; ")), Hint: refused[0].Fix}
}

// quote spells s for a POSIX shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:@%+=._-,", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// some names the first few of names.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + ", …"
}
