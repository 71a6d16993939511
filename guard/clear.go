package guard

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/plan"
)

// Identity is the table that a plan is about to be applied to, as it is now.
type Identity struct {
	Root    lake.Root
	Format  string
	TableID string
}

// Cleared is a plan that may be carried out. Only Clear makes one; the zero
// value holds no plan and nothing accepts it.
type Cleared struct{ plan *plan.Plan }

// Plan returns the plan, nil of the zero value.
func (c Cleared) Plan() *plan.Plan { return c.plan }

// Clear decides whether a plan may be applied to a table: the table is the one
// that was planned for, every guard that refuses was overridden when planning,
// and the plan says so of itself.
//
// Errors: Refused for a guard; Stale for another table at the place; Invalid
// for a plan of another place.
func Clear(p *plan.Plan, now Identity) (Cleared, error) {
	h := p.Head()
	if err := identify(&h, now); err != nil {
		return Cleared{}, err
	}
	if err := Refusal(h); err != nil {
		return Cleared{}, err
	}
	guards, err := Check(h, Options{})
	if err != nil {
		return Cleared{}, err
	}
	for _, g := range guards {
		if g.Outcome == filelist.Refused && !overridden(h.Guards, g.Code) {
			h.Guards = []filelist.Guard{g}
			return Cleared{}, Refusal(h)
		}
	}
	return Cleared{plan: p}, nil
}

// overridden reports whether the plan records that the user overrode a guard
// that can be overridden at all.
func overridden(recorded []filelist.Guard, code string) bool {
	i := slices.IndexFunc(all(), func(c check) bool { return c.code == code && c.value != nil })
	return i >= 0 && slices.ContainsFunc(recorded, func(g filelist.Guard) bool {
		return g.Code == code && g.Outcome == filelist.Overridden
	})
}

func identify(h *filelist.Head, now Identity) error {
	fail := func(kind lake.Kind, err error, hint string) error {
		return &lake.Error{Op: "check plan", Table: h.Table, Kind: kind, Err: err, Hint: hint}
	}
	root, err := lake.ParseRoot(h.Table)
	switch {
	case err != nil:
		return fail(lake.Damaged, err, "Make the plan again.")
	case !root.Same(now.Root):
		return fail(lake.Invalid, fmt.Errorf("the plan is for %s, not for %s", h.Table, now.Root), "Name the table that the plan was made for.")
	case h.Format != now.Format:
		return fail(lake.Stale, fmt.Errorf("the plan is for a table of format %s, now it is %s", h.Format, now.Format), "Make the plan again.")
	case h.TableID == "" || h.TableID != now.TableID:
		return fail(lake.Stale, errors.New("the table was replaced since the plan was made"), "Make the plan again.")
	}
	return nil
}
