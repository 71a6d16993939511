package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// TestNothingOfOursLandsInATable: what we write by a name that the user gives
// never goes over a table's file, nor to a place where a later run finds it.
func TestNothingOfOursLandsInATable(t *testing.T) {
	w := leaseTable(t)
	other := filepath.Join(t.TempDir(), "other")
	copyTree(t, w.dir, other)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Skip(err)
	}
	// A link to a file that isn't there yet is where that file would be made.
	nowhere, twice := filepath.Join(t.TempDir(), "nowhere"), filepath.Join(t.TempDir(), "twice")
	if err := errors.Join(os.Symlink(filepath.Join(link, "journal"), nowhere), os.Symlink(nowhere, twice)); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{nowhere, twice} {
		if _, err := w.apply(w.plan(w.request(week, "full")), ApplyRequest{Journal: place}); lake.KindOf(err) != lake.Invalid {
			t.Errorf("a journal at %s: %v", place, err)
		}
	}
	for _, in := range []string{w.dir, other, link, w.dir + "/new/folder/..", filepath.Join(link, "new")} {
		for _, name := range []string{"a.parquet", "_delta_log/00000000000000000001.json", "x"} {
			place := in + "/" + name
			if _, err := w.e.Plan(t.Context(), w.request(week, "full"), place); lake.KindOf(err) != lake.Invalid || err == nil {
				t.Errorf("a plan at %s: %v", place, err)
			}
			if _, err := w.e.MakeInventory(t.Context(), ListRequest{Place: w.dir}, place); lake.KindOf(err) != lake.Invalid || err == nil {
				t.Errorf("an inventory at %s: %v", place, err)
			}
			p := w.plan(w.request(week, "full"))
			if _, err := w.apply(p, ApplyRequest{Journal: place}); lake.KindOf(err) != lake.Invalid {
				t.Errorf("a journal at %s: %v", place, err)
			}
			if _, err := w.apply(p, ApplyRequest{Quarantine: place}); lake.KindOf(err) != lake.Invalid {
				t.Errorf("a quarantine at %s: %v", place, err)
			}
		}
		p := w.plan(w.request(week, "full"))
		if _, err := w.apply(p, ApplyRequest{Quarantine: in}); lake.KindOf(err) != lake.Invalid {
			t.Errorf("a quarantine at %s: %v", in, err)
		}
	}
	for _, dir := range []string{w.dir, other} {
		var names []string
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, strings.TrimPrefix(path, dir+"/"))
			}
			return err
		})
		if err != nil || strings.Join(names, " ") != "_delta_log/00000000000000000000.json a.parquet orphan.parquet" {
			t.Errorf("%s holds %q (%v)", dir, names, err)
		}
	}
	// A folder that isn't a table's is fine.
	free := filepath.Join(t.TempDir(), "free")
	p := w.plan(w.request(week, "full"))
	if _, err := w.apply(p, ApplyRequest{Quarantine: free, Journal: filepath.Join(t.TempDir(), "j")}); err != nil {
		t.Error(err)
	}
	w.has("a.parquet", "!orphan.parquet")
}

// TestAJournalGoesOverNoFile: a file that isn't a journal stays what it is,
// with or without line ends.
func TestAJournalGoesOverNoFile(t *testing.T) {
	for _, body := range []string{"123456789", "PAR1", "{", "a\nb\n", `{"type":"tail"`, `{"type":"head","schema":1}` + "\n"} {
		w := leaseTable(t)
		place := filepath.Join(t.TempDir(), "precious")
		if err := os.WriteFile(place, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := w.apply(w.plan(w.request(week, "full")), ApplyRequest{Journal: place})
		after, readErr := os.ReadFile(place)
		if body == "{" { // how a head begins that a killed run left
			if err != nil {
				t.Errorf("a torn head: %v", err)
			}
			continue
		}
		if err == nil || readErr != nil || string(after) != body {
			t.Errorf("%q: %v, now %q", body, err, after)
		}
		w.has("orphan.parquet")
	}
}

// TestSymlinksOfHostileTables: by whatever name a table is reached, what lies
// around it counts; what a symlink in it leads to doesn't.
func TestSymlinksOfHostileTables(t *testing.T) {
	w := leaseTable(t)
	inner := filepath.Join(w.dir, "inner")
	copy := filepath.Join(t.TempDir(), "copy")
	copyTree(t, w.dir, copy)
	copyTree(t, copy, inner)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(inner, link); err != nil {
		t.Skip(err)
	}
	w.given = link
	w.fails(w.request(week, "full"), lake.Refused, "enclosed")
	w.given = ""
	w.wants(w.request(week, "full"), "orphan.parquet") // the inner table is skipped whole

	w2 := newWorld(t)
	w2.live("p/live.parquet", 30*24*hour)
	w2.file("p/orphan.parquet", 30*24*hour)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Join(w2.dir, "p"), moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, filepath.Join(w2.dir, "p")); err != nil {
		t.Fatal(err)
	}
	w2.fails(w2.request(week, "full"), lake.Denied, "symlink")
	if _, err := os.Stat(filepath.Join(moved, "orphan.parquet")); err != nil {
		t.Error(err)
	}
}

// copyTree copies a folder with its times.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(to, strings.TrimPrefix(path, from)), info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOwnFilesUnderOtherNames: absolute paths of a log that reach the table by
// a symlink somewhere are the table's own, and so are those of a clone.
func TestOwnFilesUnderOtherNames(t *testing.T) {
	w := newWorld(t)
	elsewhere := t.TempDir()
	for name, target := range map[string]string{"up": filepath.Dir(w.dir), "root": w.dir, "part": w.dir + "/p%3D1", "file": w.dir + "/one", "other": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(elsewhere, name)); err != nil {
			t.Skip(err)
		}
	}
	dv, vector := deltatest.UUIDVector("", 1, -1)
	dv.StorageType, dv.PathOrInlineDv = "p", "file:"+elsewhere+"/up/t/"+vector
	w.Features([]string{"deletionVectors"}, nil)
	own := []string{"a b/f", "live", "p%3D1/f", "one", vector, "cloned"}
	for _, n := range append(own, "orphan", "removed") {
		w.file(n, old)
	}
	w.commit(old, deltatest.NewAdd("file://"+elsewhere+"/up/t/a%20b/f", 9), deltatest.NewAdd(elsewhere+"/root/live", 9).WithDV(dv),
		deltatest.NewAdd("file:"+elsewhere+"/part/f", 9), deltatest.NewAdd("file:"+elsewhere+"/file", 9), deltatest.NewAdd("file:"+elsewhere+"/other/orphan", 9),
		deltatest.NewAdd(elsewhere+"/root/removed", 9))
	w.commit(10*24*hour, deltatest.NewRemove(elsewhere+"/root/removed", w.ago(10*24*hour)))
	clone := newWorld(t)
	clone.commit(old, deltatest.NewAdd("file:"+elsewhere+"/root/cloned", 9))
	req := w.request(week, "full")
	req.Protect = []string{clone.dir}
	w.wants(req, "orphan", "removed")
	w.wants(w.request(week, "lite"), "removed")
	w.vacuum(req)
	w.has(append(own, "!orphan", "!removed")...)
	again := newWorld(t)
	again.live("x", old)
	again.file("late", old)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(again.dir, link); err != nil {
		t.Fatal(err)
	}
	p := again.wants(again.request(week, "full"), "late")
	again.commit(0, deltatest.NewAdd(link+"/late", 9)) // adopted after the plan
	if _, err := again.apply(p, ApplyRequest{}); err != nil {
		t.Fatal(err)
	}
	again.has("late")
}
