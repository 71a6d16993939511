package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
)

// vanished is what journals record as gone.
type vanished []*keyset.Set

func (v vanished) Has(k lake.Key) bool {
	for _, set := range v {
		if set.Has(k) {
			return true
		}
	}
	return false
}

// with adds a set that holds anything: each is asked about every candidate.
func (v vanished) with(set *keyset.Set) vanished {
	if set == nil || set.Len() == 0 {
		return v
	}
	return append(v, set)
}

// journaled returns what journals record as gone from run's table since the
// inventory was taken: such objects cost no request. The journals are those
// that the request names, which must be readable, and those in the state
// directory, of which one that isn't is a note: what it knew is looked at.
func (e *Engine) journaled(ctx context.Context, run *deltaRun) (gone vanished, notes []string, err error) {
	for _, place := range run.req.Inventory.Journals {
		set, err := e.vanishedBy(ctx, run, place)
		if errors.Is(err, fs.ErrNotExist) {
			err = &lake.Error{Op: "read journal " + place, Kind: lake.Invalid, Err: errors.New("there is no journal"), Hint: "Name the journal that a run wrote, or leave --inventory-journal out."}
		}
		if err != nil {
			return nil, nil, err
		}
		gone = gone.with(set)
	}
	entries, err := os.ReadDir(e.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &lake.Error{Op: "look for journals", Table: e.StateDir, Kind: lake.KindOf(err), Err: err, Hint: "Let the state directory (XDG_STATE_HOME) be read, or name another."}
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".journal" {
			continue
		}
		set, err := e.vanishedBy(ctx, run, filepath.Join(e.StateDir, entry.Name()))
		switch kind := lake.KindOf(err); {
		case err == nil:
			gone = gone.with(set)
		case errors.Is(err, fs.ErrNotExist):
		case kind == lake.Damaged, kind == lake.Unsupported:
			notes = append(notes, fmt.Sprintf("a journal can't be read and was left out: %v", err))
		default:
			return nil, nil, err
		}
	}
	return gone, notes, nil
}

// vanishedBy returns what one journal records, nil if it is another table's.
//
// Errors: fs.ErrNotExist if there is none; Damaged, Unsupported.
func (e *Engine) vanishedBy(ctx context.Context, run *deltaRun, place string) (*keyset.Set, error) {
	log, err := e.journalLog(ctx, place)
	if err != nil {
		return nil, err
	}
	j, err := filelist.ReadJournal(ctx, log)
	if err != nil {
		return nil, err
	}
	if j.Head.Table != run.Root.String() {
		return nil, nil
	}
	return j.Vanished(ctx, run.inventory.Taken)
}
