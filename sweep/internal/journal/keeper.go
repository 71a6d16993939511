package journal

import (
	"context"
	"log/slog"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// Keeper finds the journals of runs, gives them their places, and removes those
// that are of no more use. Safe for concurrent use.
type Keeper struct {
	Places   place.Finder
	StateDir string // where journals of one-shot runs lie
	Tool     string // for the heads of journals
	Log      *slog.Logger
}

// Open opens the journal of a run over a plan: at a path or URI, or with "" in
// memory if the plan lists nothing, beside what it moves into quarantine, so
// that the quarantine doesn't outlive its index, else in the state directory.
// quarantine is its prefix, "" for none.
//
// Errors: Invalid for a place inside a table, and without a state directory;
// those of filelist.OpenJournal.
func (k Keeper) Open(ctx context.Context, at string, h *filelist.Head, quarantine string) (*filelist.Journal, error) {
	head := filelist.JournalHead{PlanID: h.PlanID, Table: h.Table, Format: h.Format, Tool: k.Tool, Created: k.Places.Now().UTC(), Quarantine: quarantine}
	if at == "" {
		return k.own(ctx, head, h.Totals.Dead+h.Totals.DeadDirectories)
	}
	return k.at(ctx, at, head)
}

func (k Keeper) at(ctx context.Context, place string, head filelist.JournalHead) (*filelist.Journal, error) {
	if err := k.Places.Outside(ctx, "--journal", place); err != nil {
		return nil, err
	}
	log, err := k.Find(ctx, place)
	if err != nil {
		return nil, err
	}
	return filelist.OpenJournal(ctx, log, head)
}

// Find opens the lines of the journal at a path or URI: a local file, or a folder of
// segments in a store. There need be none.
func (k Keeper) Find(ctx context.Context, place string) (filelist.Log, error) {
	root, err := k.Places.Root(place)
	if err != nil {
		return nil, err
	}
	if root.Class() == "file" {
		return filelist.NewFileLog(root.String()), nil
	}
	folder, _ := root.Parent()
	s, err := k.Places.Stores.OpenStore(ctx, folder)
	if err != nil {
		return nil, err
	}
	return reap.NewSegmentLog(s, lake.Key(root.Path).Base(), root.String()), nil
}
