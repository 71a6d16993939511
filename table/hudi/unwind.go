package hudi

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// unwinding refuses a table on which complete writes are about to be taken
// back: what they superseded is needed again. A restore takes back several, one
// by one; a rollback its target, which stays complete until the rollback begins.
// Hudi finishes both before its next write, and its cleaner doesn't look at them.
//
// A rollback that is only requested and whose plan can't be read is what a crash
// left: Hudi removes it.
//
// Source: Hudi 1.2.0, BaseHoodieTableServiceClient.getPendingRollbackInfos and
// BaseRollbackActionExecutor.
func (t *Table) unwinding(ctx context.Context) error {
	for _, i := range t.timeline.Instants {
		switch {
		case i.State == timeline.Completed:
		case i.Action == timeline.Restore:
			return unwind("pending_restore", i, fmt.Errorf("the restore %s is pending", i.Time))
		case i.Action == timeline.Rollback:
			target, err := t.timeline.RollbackOf(ctx, i)
			switch kind := lake.KindOf(err); {
			case err != nil && kind == lake.Damaged && i.State == timeline.Requested:
				t.services.warn("the requested rollback " + i.Time + " has no plan that can be read, and is passed over")
			case err != nil && kind == lake.Damaged:
				return unwind("pending_rollback", i, fmt.Errorf("the rollback %s is under way, of what can't be read: %w", i.Time, err))
			case err != nil:
				return err
			case t.completed(target):
				return unwind("pending_rollback", i, fmt.Errorf("the rollback %s of the complete write %s is pending", i.Time, target))
			}
		}
	}
	return nil
}

func unwind(code string, i timeline.Instant, err error) error {
	return &lake.Error{Op: "plan clean", Kind: lake.Refused, Code: code, Err: err, Hint: fmt.Sprintf("Let Hudi finish the %s, then clean.", i.Action)}
}

// completed reports whether a write of a requested time is complete.
func (t *Table) completed(time string) bool {
	i, ok := t.completion.active[time]
	return ok && i.State == timeline.Completed
}
