package blobs

import (
	"context"
	"fmt"

	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// Hold keeps all blobs that a table refers to while slices of a plan lie in a
// quarantine: put back, they refer to their blobs again. j is the journal by
// which they are. Nothing is held where no record refers to a blob, or no slice
// is to be moved.
func Hold(ctx context.Context, r store.Reader, w store.Writer, h *filelist.Head, j *filelist.Journal) error {
	if h.State[NoneKey] == "true" || h.Totals.Dead == 0 {
		return nil
	}
	hold := holdOf(j.Head())
	hold.Journal = j.Place()
	return hold.Place(ctx, r, w)
}

// LetGo ends what Hold began, once nothing is left that the journal with this
// head moved to its quarantine.
func LetGo(ctx context.Context, w store.Writer, head filelist.JournalHead) error {
	return holdOf(head).End(ctx, w)
}

func holdOf(head filelist.JournalHead) blobqueue.Hold {
	return blobqueue.Hold{PlanID: head.PlanID, Quarantine: head.Quarantine, Since: head.Created.UTC()}
}

// held says why no blob may die, "" if none is held: slices of one of the tables
// lie in a quarantine.
func (j *judge) held(ctx context.Context) (string, error) {
	for _, t := range j.tables {
		if why, err := heldBy(ctx, t.table); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// heldBy says which quarantines of a table hold its blobs, "" for none.
func heldBy(ctx context.Context, t *Table) (string, error) {
	holds, err := blobqueue.Holds(ctx, t.Reader)
	if err != nil || len(holds) == 0 {
		return "", err
	}
	if more := len(holds) - 1; more > 0 {
		return fmt.Sprintf("%s: %s, and so for %d more", t.Root, holds[0], more), nil
	}
	return fmt.Sprintf("%s: %s", t.Root, holds[0]), nil
}
