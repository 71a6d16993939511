package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lake/keyset"
)

// Gone returns what journals record as gone from the table at root since a list
// of its objects was taken: such objects cost no request. gone is nil if they
// record nothing. The journals are those that are named, which must be readable,
// and those in the state directory, of which one that isn't is a note: what it
// knew is looked at.
//
// Errors: Invalid for a named journal that isn't there; those of the store.
func (k Keeper) Gone(ctx context.Context, root lake.Root, taken time.Time, named []string) (gone func(lake.Key) bool, notes []string, err error) {
	var all []*keyset.Set
	for _, place := range named {
		set, err := k.goneBy(ctx, root, taken, place)
		if errors.Is(err, fs.ErrNotExist) {
			err = &lake.Error{Op: "read journal " + place, Kind: lake.Invalid, Err: errors.New("there is no journal"), Hint: "Name the journal that a run wrote, or leave --inventory-journal out."}
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, set)
	}
	entries, err := os.ReadDir(k.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &lake.Error{Op: "look for journals", Table: k.StateDir, Kind: lake.KindOf(err), Err: err, Hint: "Let the state directory (XDG_STATE_HOME) be read, or name another."}
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".journal" {
			continue
		}
		set, err := k.goneBy(ctx, root, taken, filepath.Join(k.StateDir, entry.Name()))
		switch kind := lake.KindOf(err); {
		case err == nil:
			all = append(all, set)
		case errors.Is(err, fs.ErrNotExist):
		case kind == lake.Damaged, kind == lake.Unsupported:
			notes = append(notes, fmt.Sprintf("a journal can't be read and was left out: %v", err))
		default:
			return nil, nil, err
		}
	}
	all = slices.DeleteFunc(all, func(set *keyset.Set) bool { return set == nil || set.Len() == 0 })
	if len(all) > 0 { // each is asked about every candidate
		gone = func(k lake.Key) bool {
			return slices.ContainsFunc(all, func(set *keyset.Set) bool { return set.Has(k) })
		}
	}
	return gone, notes, nil
}

// goneBy returns what one journal records, nil if it is another table's.
//
// Errors: fs.ErrNotExist if there is none; Damaged, Unsupported.
func (k Keeper) goneBy(ctx context.Context, root lake.Root, taken time.Time, place string) (*keyset.Set, error) {
	log, err := k.Find(ctx, place)
	if err != nil {
		return nil, err
	}
	j, err := filelist.ReadJournal(ctx, log)
	if err != nil {
		return nil, err
	}
	if j.Head.Table != root.String() {
		return nil, nil
	}
	return j.Vanished(ctx, taken)
}
