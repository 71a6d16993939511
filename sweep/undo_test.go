package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// What is put back, a LITE run doesn't find: the full run before it is
// forgotten, and so is one that ends while objects are put back. A restore that
// puts nothing back changes nothing.
func TestARestoreForgetsTheLastFullRun(t *testing.T) {
	const old = 30 * 24 * time.Hour
	w := newWorld(t)
	w.live("live", old)
	for _, name := range []string{"a", "b"} {
		w.file(name, old)
	}
	mark := filepath.Join(w.dir, "_delta_log", "_last_vacuum_info")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(mark)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	r, err := w.apply(w.plan(w.request(168*time.Hour, "full")), ApplyRequest{Quarantine: filepath.Join(t.TempDir(), "q")})
	if err != nil || r.Quarantined != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	before := read()
	if !strings.Contains(before, "lakesweepLastFullMillis") {
		t.Fatalf("no full run on record: %s", before)
	}
	if _, err := w.e.Restore(t.Context(), UndoRequest{Journal: r.Journal, Paths: []string{"none"}}, nil); lake.KindOf(err) != lake.Invalid || read() != before {
		t.Errorf("a restore that was refused: %v, %s", err, read())
	}
	for name, paths := range map[string][]string{"whole": {"a"}, "ended in an error": {"b", "none"}} {
		if err := os.WriteFile(mark, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		during := ""
		put, err := w.e.Restore(t.Context(), UndoRequest{Journal: r.Journal, Paths: paths}, func(Outcome) {
			during = read()
			if err := os.WriteFile(mark, []byte(before), 0o644); err != nil { // a full run ends
				t.Error(err)
			}
		})
		if put.Restored != 1 || (err != nil) != (len(paths) > 1) {
			t.Fatalf("%s: %+v, %v", name, put, err)
		}
		for when, text := range map[string]string{"before the first": during, "after the last": read()} {
			if strings.Contains(text, "lakesweepLastFullMillis") {
				t.Errorf("%s, %s: %s", name, when, text)
			}
		}
	}
}
