package sweep

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

// ownJournal opens the journal of a run that names none: in memory if the plan
// lists nothing, beside what it moves into quarantine, so that the quarantine
// doesn't outlive its index, else in the state directory.
//
// Errors: Invalid without a state directory; those of OpenJournal.
func (e *Engine) ownJournal(ctx context.Context, head filelist.JournalHead, rows int64) (*filelist.Journal, error) {
	switch {
	case rows == 0:
		return filelist.OpenJournal(ctx, new(memoryLog), head)
	case head.Quarantine != "":
		return e.journalAt(ctx, strings.TrimRight(head.Quarantine, "/")+".journal", head)
	}
	if err := e.makeStateDir(head.Table); err != nil {
		return nil, err
	}
	if err := e.expireJournals(ctx, head.Created); err != nil {
		return nil, err
	}
	return e.journalAt(ctx, filepath.Join(e.StateDir, journalName(head)), head)
}

// journalName is what ownJournal calls a journal in the state directory.
func journalName(head filelist.JournalHead) string {
	return tableWord(head.Table) + "-" + head.PlanID + ".journal"
}

// journalReady refuses a run whose journal could have no place, before anything
// is planned.
func (e *Engine) journalReady(given string, req *ApplyRequest) error {
	if req == nil || req.Journal != "" || req.Quarantine != "" {
		return nil
	}
	return e.makeStateDir(given)
}

func (e *Engine) makeStateDir(table string) error {
	err := errors.New("there is no state directory: neither XDG_STATE_HOME nor HOME is set")
	if e.StateDir != "" {
		err = os.MkdirAll(e.StateDir, 0o755)
	}
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(e.StateDir, ".writable-"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err == nil {
		return nil
	}
	return &lake.Error{Op: "open journal", Table: table, Kind: lake.Invalid, Err: err,
		Hint: "Name a folder that can be written to with --state-dir, or a place for this run's journal with --journal."}
}

// expireJournals removes from the state directory the journals of its own that
// say nothing more to anybody: of runs that deleted, that are over, and whose
// newest line is older than keptJournals. How such a run ended is no matter: its
// plan lay in no file, so that none can go on with it. One that can't be read
// stays, and so does one that somebody put there under another name.
func (e *Engine) expireJournals(ctx context.Context, now time.Time) error {
	entries, err := os.ReadDir(e.StateDir)
	if err != nil {
		return &lake.Error{Op: "look for journals", Table: e.StateDir, Kind: lake.KindOf(err), Err: err, Hint: "Let the state directory be read, or name another with --state-dir."}
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(entry.Name()) != ".journal" || now.Sub(info.ModTime()) < keptJournals {
			continue // the file's own time only saves reading it
		}
		place := filepath.Join(e.StateDir, entry.Name())
		j, err := filelist.ReadJournal(ctx, filelist.NewFileLog(place))
		if err != nil || j.Head.Quarantine != "" || entry.Name() != journalName(j.Head) {
			continue
		}
		last, settled, err := j.Settled(ctx)
		if err != nil || !settled || now.Sub(last) < keptJournals {
			continue
		}
		if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.Log.Warn("an old journal can't be removed", "journal", place, "error", err)
			continue
		}
		e.Log.Info("an old journal is removed", "journal", place, "newest line", last)
	}
	return nil
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

// memoryLog is the journal of a run that has nothing to do.
type memoryLog struct{ lines []byte }

func (m *memoryLog) Append(_ context.Context, lines []byte) error {
	m.lines = append(m.lines, lines...)
	return nil
}

func (m *memoryLog) Read(_ context.Context, yield func([]byte, error) bool) {
	if m.lines == nil {
		yield(nil, fs.ErrNotExist)
		return
	}
	yield(m.lines, nil)
}

func (m *memoryLog) Place() string { return "" }
