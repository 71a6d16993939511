package sweep

import (
	"context"
	"errors"
	"io/fs"
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

// journaled returns what journals record as gone from run's table since the
// inventory was taken: such objects cost no request. The journals are those
// that the request names and those in the state directory.
func (e *Engine) journaled(ctx context.Context, run *deltaRun) (gone vanished, err error) {
	places := append([]string(nil), run.req.Inventory.Journals...)
	files, err := filepath.Glob(filepath.Join(e.StateDir, "*.journal"))
	if err != nil {
		return nil, err
	}
	for _, place := range append(places, files...) {
		log, err := e.journalLog(ctx, place)
		if err != nil {
			return nil, err
		}
		j, err := filelist.ReadJournal(ctx, log)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if j.Head.Table != run.root.String() {
			continue
		}
		set, err := j.Vanished(ctx, run.inventory.Taken)
		if err != nil {
			return nil, err
		}
		gone = append(gone, set)
	}
	return gone, nil
}
