package reap_test

import (
	"context"

	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
)

func (w *world) undo() reap.Undo {
	w.t.Helper()
	j, err := filelist.OpenJournal(context.Background(), w.log(), filelist.JournalHead{PlanID: w.head.PlanID, Table: w.head.Table, Quarantine: shelf.String()})
	if err != nil {
		w.t.Fatal(err)
	}
	return reap.Undo{Journal: j, Quarantine: w.through(w.shelf), Table: w.through(w.table), Now: clock}
}
