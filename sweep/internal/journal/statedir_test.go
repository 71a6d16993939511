package journal_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/sweep/internal/journal"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

func TestOldJournalsExpire(t *testing.T) {
	const limit = 90 * 24 * time.Hour
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	var logged bytes.Buffer
	keeper := journal.Keeper{
		Places:   place.Finder{Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}}, Now: func() time.Time { return now }, Getwd: os.Getwd},
		StateDir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil)),
	}
	over, failed := []string{filelist.Deleted}, []string{filelist.Deleted, filelist.Failed}
	for id, c := range map[string]struct {
		name, quarantine string
		outcomes         []string // "" for an intent alone
		file, line       time.Duration
	}{
		"old":          {"t-old", "", over, limit, limit},
		"failed":       {"t-failed", "", failed, limit, limit},
		"young file":   {"t-young file", "", over, limit - time.Second, limit},
		"young line":   {"t-young line", "", over, 10 * limit, limit - time.Second},
		"unfinished":   {"t-unfinished", "", []string{filelist.Deleted, ""}, 10 * limit, 10 * limit},
		"quarantine":   {"t-quarantine", "/q", over, 10 * limit, 10 * limit},
		"by --journal": {"mine", "", over, 10 * limit, 10 * limit},
		"no journal":   {"t-no journal", "", nil, 10 * limit, 10 * limit},
	} {
		path := filepath.Join(dir, c.name+".journal")
		j, err := filelist.OpenJournal(t.Context(), filelist.NewFileLog(path), filelist.JournalHead{PlanID: id, Table: "t", Quarantine: c.quarantine, Created: now.Add(-c.line)})
		if err != nil {
			t.Fatal(err)
		}
		for i, outcome := range c.outcomes {
			r := filelist.Record{Type: filelist.RecordIntent, At: now.Add(-c.line), Key: lake.Key(rune('a' + i)), Size: -1, Reason: lake.Orphan}
			lines := []filelist.Record{r}
			if outcome != "" {
				r.Type, r.Outcome = filelist.RecordOutcome, outcome
				lines = append(lines, r)
			}
			if err := j.Append(t.Context(), lines...); err != nil {
				t.Fatal(err)
			}
		}
		if c.outcomes == nil {
			if err := os.WriteFile(path, []byte("somebody's file\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, now.Add(-c.file), now.Add(-c.file)); err != nil {
			t.Fatal(err)
		}
	}
	// A run that has something to do looks at what lies there.
	if _, err := keeper.Open(t.Context(), "", &filelist.Head{PlanID: "new", Table: "t", Totals: filelist.Totals{Dead: 1}}, ""); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, []string{"mine.journal", "t-new.journal", "t-no journal.journal", "t-quarantine.journal", "t-unfinished.journal", "t-young file.journal", "t-young line.journal"}) {
		t.Errorf("%q", got)
	}
	if got := logged.String(); strings.Count(got, "an old journal is removed") != 2 || !strings.Contains(got, "t-old.journal") {
		t.Errorf("logged %s", got)
	}
}
