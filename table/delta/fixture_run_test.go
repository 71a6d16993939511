package delta_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// when gives a run's clock and cutoff.
func (r run) when(t *testing.T, tab *delta.Table) (now, cutoff time.Time) {
	t.Helper()
	now = time.Now()
	for text, at := range map[string]*time.Time{r.Now: &now, r.Cutoff: &cutoff} {
		if text != "" {
			var err error
			if *at, err = time.Parse(time.RFC3339, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cutoff.IsZero() && tab != nil {
		retain, err := tab.Retention()
		if err != nil {
			t.Fatal(err)
		}
		if r.Retain != nil {
			retain = time.Duration(*r.Retain * float64(time.Hour))
		}
		cutoff = now.Add(-retain)
	}
	return now, cutoff
}

// fullByWalk is the obvious full run: walk, apply the rules, ask the protection.
func fullByWalk(t *testing.T, dir string, tab *delta.Table, p *delta.Protection, cutoff time.Time) []string {
	t.Helper()
	rules := tab.Rules()
	dead := []string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		k := lake.Listed(rel)
		if !rules.Visible(k) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			entries, err := os.ReadDir(path)
			if err != nil {
				return err
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if meta.Foreign(names) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		if has, _ := p.Set.MarkFirst(k); !has && info.ModTime().Before(cutoff) {
			dead = append(dead, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dead)
	return dead
}

func TestRunsOfEveryCase(t *testing.T) {
	for _, file := range caseFiles(t) {
		c := loadCase(t, file)
		t.Run(c.Case, func(t *testing.T) {
			dir := unpack(t, c.Case+".tar.gz")
			for _, r := range c.Runs {
				t.Run(r.ID, func(t *testing.T) { checkRun(t, filepath.Join(dir, r.Table), r) })
			}
		})
	}
}

func checkRun(t *testing.T, dir string, r run) {
	now, _ := r.when(t, nil)
	tab, err := openLocal(t, dir, delta.Options{Now: func() time.Time { return now }})
	if err != nil {
		if r.Expected.Refuse == "" && r.Expected.OrRefuse == "" {
			t.Error(err)
		}
		return
	}
	_, cutoff := r.when(t, tab)
	p, err := tab.Protect(t.Context(), delta.ProtectRequest{Cutoff: cutoff})
	if err != nil {
		if r.Expected.Refuse == "" && r.Expected.OrRefuse == "" {
			t.Error(err)
		}
		return
	}
	var got []string
	if r.Mode == "lite" {
		w, err := tab.ReadWatermark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for v, err := range tab.Lite(t.Context(), delta.LiteRequest{Cutoff: cutoff, Watermark: w}, p) {
			if err != nil {
				if r.Expected.Refuse == "" && r.Expected.OrRefuse == "" {
					t.Error(err)
				}
				return
			}
			if _, err := os.Stat(filepath.Join(dir, string(v.Key))); err == nil {
				got = append(got, string(v.Key))
			}
		}
		slices.Sort(got)
	} else {
		got = fullByWalk(t, dir, tab, p, cutoff)
		if all, seen := p.Set.Expected(); all != seen {
			t.Errorf("expected %d live files and deletion vectors, saw %d", all, seen)
		}
	}
	if r.Expected.Refuse != "" {
		t.Errorf("must refuse (%s), got %v", r.Expected.Refuse, got)
		return
	}
	either := func(k string) bool {
		return slices.Contains(r.Expected.Either, k) || strings.HasPrefix(filepath.Base(k), ".")
	}
	got = slices.DeleteFunc(got, either)
	want := slices.DeleteFunc(slices.Clone(r.Expected.Files), either)
	slices.Sort(want)
	if d := cmp.Diff(append([]string{}, want...), append([]string{}, got...)); d != "" {
		t.Errorf("%s dead (-want +got)\n%s\ngap %q, warnings %v", r.Mode, d, p.HistoryGap, tab.Warnings())
	}
}

// refusedOnPurpose are tables that a peer reads and we don't touch: one with a
// feature nobody specified, one without any commit.
var refusedOnPurpose = map[string]bool{"delta-rs/table_with_liquid_clustering": true, "delta-rs/table-with-domain-metadata": true}

func TestLiveFilesOfGoldenTables(t *testing.T) {
	needFixtures(t)
	body, err := os.ReadFile(filepath.Join(fixtures, "live-files.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Archives map[string]map[string]struct {
			By      string
			Version int64
			Data    []string
			DV      []string
		}
	}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	for archive, tables := range all.Archives {
		dir := unpack(t, archive)
		for name, want := range tables {
			t.Run(name, func(t *testing.T) {
				tab, err := openLocal(t, filepath.Join(dir, name), delta.Options{})
				if err == nil {
					_, err = tab.Protect(t.Context(), delta.ProtectRequest{})
				}
				if err != nil {
					if want.By != "none" && !refusedOnPurpose[name] {
						t.Errorf("%v (%s reads it)", err, want.By)
					} else {
						t.Log(err)
					}
					return
				}
				files, dvs, outside, err := liveOf(t, tab)
				if err != nil {
					t.Fatal(err)
				}
				if want.By == "none" {
					t.Logf("no peer reads it; we find %d files", len(files))
					return
				}
				if tab.Version() != want.Version {
					t.Errorf("version %d, want %d", tab.Version(), want.Version)
				}
				if d := cmp.Diff(append([]string{}, want.Data...), append(files, outside...)); d != "" && len(want.Data)+len(files) > 0 {
					t.Errorf("live files (-want +got)\n%s", d)
				}
				if d := cmp.Diff(append([]string{}, want.DV...), append([]string{}, dvs...)); d != "" {
					t.Errorf("deletion vectors (-want +got)\n%s", d)
				}
			})
		}
	}
}
