package guard

import (
	"time"

	"github.com/lakesweep/lakesweep/lake/filelist"
)

// Options are the wishes of the command line that guards weigh. Each override
// is empty or names the table as given there.
type Options struct {
	RetainBelow     string        // --unsafe-retain-below
	MostlyDead      string        // --unsafe-mostly-dead
	MissingLive     string        // --unsafe-missing-live
	MaxInventoryAge time.Duration // --max-inventory-age, 0: any age
}

// Check judges a plan's head by every guard, in a fixed order. The result
// belongs in Head.Guards before the plan is written.
//
// Errors: Invalid if an override names another table than Head.Given.
func Check(h filelist.Head, o Options) ([]filelist.Guard, error) {
	panic("not yet")
}

// Refused returns an error of kind Refused that names each guard that refuses,
// nil if none does.
func Refused(table string, guards []filelist.Guard) error {
	panic("not yet")
}
