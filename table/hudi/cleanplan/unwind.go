package cleanplan

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/snapshot"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Unwinding refuses a table on which complete writes are about to be taken
// back: what they superseded is needed again. A restore takes back several, one
// by one; a rollback its target, which stays complete until the rollback begins.
// Hudi finishes both before its next write, and its cleaner doesn't look at them.
//
// A rollback that is only requested and whose plan can't be read is what a crash
// left: Hudi removes it.
//
// Source: Hudi 1.2.0, BaseHoodieTableServiceClient.getPendingRollbackInfos and
// BaseRollbackActionExecutor.
func Unwinding(ctx context.Context, t *snapshot.Table) error {
	for _, i := range t.Timeline.Instants {
		switch {
		case i.State == timeline.Completed:
		case i.Action == timeline.Restore:
			return unwind("pending_restore", i, fmt.Errorf("the restore %s is pending", i.Time))
		case i.Action == timeline.Rollback:
			target, err := t.Timeline.RollbackOf(ctx, i)
			_, completed := t.View.Completed(target)
			switch kind := lake.KindOf(err); {
			case err != nil && kind == lake.Damaged && i.State == timeline.Requested:
				t.Services.Warn("the requested rollback " + i.Time + " has no plan that can be read, and is passed over")
			case err != nil && kind == lake.Damaged:
				return unwind("pending_rollback", i, fmt.Errorf("the rollback %s is under way, of what can't be read: %w", i.Time, err))
			case err != nil:
				return err
			case completed:
				return unwind("pending_rollback", i, fmt.Errorf("the rollback %s of the complete write %s is pending", i.Time, target))
			}
		}
	}
	return nil
}

// Look is New for those who only look at the table: while complete writes are
// about to be taken back, no clean takes anything.
func Look(ctx context.Context, t *snapshot.Table, c retain.Config) (*Plan, error) {
	err := Unwinding(ctx, t)
	if e, ok := errors.AsType[*lake.Error](err); ok && e.Kind == lake.Refused {
		if err := c.Check(); err != nil {
			return nil, t.Wrap(err)
		}
		return (&Plan{Config: c, t: t}).nothing(e.Err.Error())
	}
	if err != nil {
		return nil, t.Wrap(err)
	}
	return New(ctx, t, c)
}

func unwind(code string, i timeline.Instant, err error) error {
	return &lake.Error{Op: "plan clean", Kind: lake.Refused, Code: code, Err: err, Hint: fmt.Sprintf("Let Hudi finish the %s, then clean.", i.Action)}
}
