package blobs

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/cleanplan"
)

// Look is what a look for columns that refer to blobs found.
type Look struct {
	columns shape.Columns
	none    bool  // no record can refer to a blob
	err     error // it couldn't be found out, or the blobs can't be judged
}

// Look looks for columns that refer to blobs. Every plan does so, whatever it
// is asked about blobs: one that isn't says so where it lets them go, and one
// that is asks no more than that of a table that has none.
//
// Errors: ctx's alone. Whether another one matters, Planner and Unqueued say.
func (t *Table) Look(ctx context.Context) (l Look, err error) {
	if l.columns, l.none, l.err = t.Hudi.LookForBlobs(ctx, t.Request.Columns); l.err != nil {
		err = ctx.Err()
	}
	return l, err
}

// NoneKey is the key of a plan's state that says that no record refers to a
// blob: its value is "true" then, else it is absent.
const NoneKey = "hudi.no_blobs"

// Remember notes in a plan's state what carrying it out has to know whatever
// was asked about blobs.
func (l Look) Remember(state map[string]string) {
	if l.none {
		state[NoneKey] = "true"
	}
}

// wanted reports whether something is to be done about blobs.
func (t *Table) wanted() bool {
	return t.Request.Mode != "" && t.Request.Mode != "off" && t.Config.Enabled
}

// Unqueued returns the columns that file slices refer to blobs in which a clean
// lets go without a queue that remembers them, though nobody said that they are
// to stay; and a note where whether it does can't be told.
func (t *Table) Unqueued(seen Look, clean *cleanplan.Plan, totals *filelist.Totals) (columns, notes []string) {
	if t.Request.Mode != "" || !t.Config.Enabled {
		return nil, nil
	}
	slices := int64(0)
	for _, reason := range []lake.Reason{lake.ExpiredSlice, lake.ReplacedGroup, lake.DeadPartition} {
		slices += totals.ByReason[string(reason)].Objects
	}
	switch {
	case slices == 0, clean.Extra[blobqueue.ExtraPath] != "": // queued by the run that published the clean
		return nil, nil
	case seen.err != nil && len(seen.columns) == 0:
		return nil, []string{fmt.Sprintf("whether the slices that go refer to external blobs can't be told: %v", seen.err)}
	}
	return seen.columns, nil
}
