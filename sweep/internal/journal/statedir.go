package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// keptJournals is how long the state directory keeps the journal of a run that
// is over and left nothing in quarantine.
const keptJournals = 90 * 24 * time.Hour

// own opens the journal of a run that names none.
func (k Keeper) own(ctx context.Context, head filelist.JournalHead, rows int64) (*filelist.Journal, error) {
	switch {
	case rows == 0:
		return filelist.OpenJournal(ctx, new(memoryLog), head)
	case head.Quarantine != "":
		return k.at(ctx, strings.TrimRight(head.Quarantine, "/")+".journal", head)
	}
	if err := k.Ready(head.Table); err != nil {
		return nil, err
	}
	if err := k.expire(ctx, head.Created); err != nil {
		return nil, err
	}
	return k.at(ctx, filepath.Join(k.StateDir, name(head)), head)
}

// Ready makes the state directory and tells whether journals can be written
// there. table is named in the error.
//
// Errors: Invalid.
func (k Keeper) Ready(table string) error {
	err := errors.New("there is no state directory: neither XDG_STATE_HOME nor HOME is set")
	if k.StateDir != "" {
		err = os.MkdirAll(k.StateDir, 0o755)
	}
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(k.StateDir, ".writable-"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err == nil {
		return nil
	}
	return &lake.Error{Op: "open journal", Table: table, Kind: lake.Invalid, Err: err,
		Hint: "Name a folder that can be written to with --state-dir, or a place for this run's journal with --journal."}
}

// expire removes from the state directory the journals of its own that
// say nothing more to anybody: of runs that deleted, that are over, and whose
// newest line is older than keptJournals. How such a run ended is no matter: its
// plan lay in no file, so that none can go on with it. One that can't be read
// stays, and so does one that somebody put there under another name.
func (k Keeper) expire(ctx context.Context, now time.Time) error {
	entries, err := os.ReadDir(k.StateDir)
	if err != nil {
		return &lake.Error{Op: "look for journals", Table: k.StateDir, Kind: lake.KindOf(err), Err: err, Hint: "Let the state directory be read, or name another with --state-dir."}
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(entry.Name()) != ".journal" || now.Sub(info.ModTime()) < keptJournals {
			continue // the file's own time only saves reading it
		}
		place := filepath.Join(k.StateDir, entry.Name())
		j, err := filelist.ReadJournal(ctx, filelist.NewFileLog(place))
		if err != nil || j.Head.Quarantine != "" || entry.Name() != name(j.Head) {
			continue
		}
		last, settled, err := j.Settled(ctx)
		if err != nil || !settled || now.Sub(last) < keptJournals {
			continue
		}
		if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.Log.Warn("an old journal can't be removed", "journal", place, "error", err)
			continue
		}
		k.Log.Info("an old journal is removed", "journal", place, "newest line", last)
	}
	return nil
}

// name is what own calls a journal in the state directory.
func name(head filelist.JournalHead) string {
	return tableWord(head.Table) + "-" + head.PlanID + ".journal"
}

// tableWord is the last part of a table's root, as far as it is letters,
// digits, '_', '-' and '.', for the names of files.
func tableWord(root string) string {
	word := strings.TrimRight(root, "/")
	word = word[strings.LastIndexByte(word, '/')+1:]
	word = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, word)
	return word[:min(len(word), 100)]
}
