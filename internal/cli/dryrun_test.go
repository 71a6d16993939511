package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/internal/sample"
)

// snapshot tells everything below a folder: names, kinds, times and bytes.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data := []byte{}
		if info.Mode().IsRegular() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all = append(all, fmt.Sprintf("%s %v %v %x", path, info.Mode(), info.ModTime().UnixNano(), data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// B156: no command that doesn't delete changes a byte, a name or a time of the
// table, or leaves anything in the home folder, whatever flags it has.
func TestCommandsThatOnlyLookChangeNothing(t *testing.T) {
	top := t.TempDir()
	table, home, out := filepath.Join(top, "table"), filepath.Join(top, "home"), t.TempDir()
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := sample.Write(table, time.Now()); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, top)
	inventory := filepath.Join(out, "inventory")
	for _, args := range [][]string{
		{"inventory", "make", table, "--out", inventory},
		{"inventory", "convert", inventory, "--out", filepath.Join(out, "converted")},
		{"plan", table},
		{"plan", table, "--mode", "full", "-o", "jsonl"},
		{"plan", table, "--mode", "lite", "-o", "paths"},
		{"plan", table, "--where", "day = '2026-01-01'", "-o", "csv"},
		{"plan", table, "--inventory", inventory, "-o", "json"},
		{"plan", table, "--retain", "0h", "--unsafe-retain-below", table, "--unsafe-mostly-dead", table, "--unsafe-missing-live", table},
		{"plan", table, "--keep-version", "0", "--out", filepath.Join(out, "plan")},
		{"plan", table, "--cutoff", "2026-01-01T00:00:00Z", "--detailed-exitcode"},
		{"vacuum", table, "--dry-run", "--yes", "--max-delete", "1", "--commit-log", "on"},
		{"clean", table, "-n", "--quarantine", filepath.Join(out, "quarantine")},
		{"vacuum", table, "--dry-run", "--journal", filepath.Join(out, "journal"), "--all-versions", table},
		{"sql", "VACUUM '" + table + "' LITE DRY RUN", "--yes"},
		{"sql", "VACUUM '" + table + "' RETAIN 0 HOURS DRY RUN", "--unsafe-retain-below", table},
		{"explain", table, "day=2026-01-01/part-a1.parquet", "absent"},
		{"verify", table},
		{"usage", table},
		{"inspect", table},
		{"doctor", table},
		{"bench", "list", table},
	} {
		var stderr bytes.Buffer
		status := Main(t.Context(), Process{Args: args, Env: []string{"HOME=" + home}, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &stderr, Now: time.Now})
		if status != 0 && status != 20 {
			t.Errorf("%v: status %d\n%s", args, status, stderr.String())
		}
		if diff := cmp.Diff(before, snapshot(t, top)); diff != "" {
			t.Fatalf("%v changed something:\n%s", args, diff)
		}
	}
	for _, name := range []string{"quarantine", "journal"} {
		if _, err := os.Lstat(filepath.Join(out, name)); err == nil {
			t.Errorf("a dry run made a %s", name)
		}
	}
}
