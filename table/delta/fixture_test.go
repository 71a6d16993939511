package delta_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/delta"
)

// fixtures is the folder of real tables, beside the project.
const fixtures = "../../../shared/fixtures/delta"

// needFixtures skips a test where the real tables aren't at hand.
func needFixtures(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(fixtures); err != nil {
		t.Skipf("the fixtures of real tables are not at %s", fixtures)
	}
}

// unpack unpacks an archive of fixtures with its times, and puts the folder's
// name in place of {{ROOT}}.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures, archive))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir, times := t.TempDir(), map[string]time.Time{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p := filepath.Join(dir, h.Name)
		times[p] = h.ModTime
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(p, 0o755)
		case tar.TypeReg:
			var body []byte
			if body, err = io.ReadAll(tr); err == nil {
				if err = os.MkdirAll(filepath.Dir(p), 0o755); err == nil {
					err = os.WriteFile(p, bytes.ReplaceAll(body, []byte("{{ROOT}}"), []byte(dir)), 0o644)
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	names := make([]string, 0, len(times))
	for p := range times {
		names = append(names, p)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names)))
	for _, p := range names {
		if err := os.Chtimes(p, times[p], times[p]); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openLocal opens a table on the local disk.
func openLocal(t *testing.T, dir string, o delta.Options) (*delta.Table, error) {
	t.Helper()
	root, err := lake.ParseRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := local.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return delta.Open(t.Context(), store.ReadOnly(s), root, o)
}

// liveOf returns the live files, deletion vectors and outside files of a table.
func liveOf(t *testing.T, tab *delta.Table) (files, dvs, outside []string, err error) {
	t.Helper()
	for f, err := range tab.LiveFiles(t.Context()) {
		if err != nil {
			return nil, nil, nil, err
		}
		if f.Key != "" {
			files = append(files, string(f.Key))
		} else {
			outside = append(outside, f.URI)
		}
		if f.DVURI != "" {
			outside = append(outside, f.DVURI)
		}
		if f.DV != "" {
			dvs = append(dvs, string(f.DV))
		}
	}
	for _, s := range []*[]string{&files, &dvs, &outside} {
		slices.Sort(*s)
		*s = slices.Compact(*s)
	}
	return files, dvs, outside, nil
}

type caseFile struct {
	Case   string
	Tables map[string]struct {
		Root    string
		Version int64
		Columns []string `json:"partition_columns"`
		Live    []string `json:"live_files"`
		DVs     []string `json:"live_dv_files"`
		Outside []string `json:"live_outside_root"`
	}
	Runs []run
}

type run struct {
	ID, Table, Mode string
	Retain          *float64 `json:"retain_hours"`
	Now             string
	Cutoff          string
	Expected        struct {
		Files    []string
		Dirs     []string `json:"empty_dirs"`
		Either   []string `json:"either_ok"`
		Refuse   string
		OrRefuse string `json:"or_refuse"`
	}
}

func loadCase(t *testing.T, file string) (c caseFile) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func caseFiles(t *testing.T) []string {
	t.Helper()
	needFixtures(t)
	files, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "live-files.json" })
}

func TestLiveFilesOfEveryCase(t *testing.T) {
	for _, file := range caseFiles(t) {
		c := loadCase(t, file)
		t.Run(c.Case, func(t *testing.T) {
			dir := unpack(t, c.Case+".tar.gz")
			for name, want := range c.Tables {
				if want.Live == nil {
					continue
				}
				tab, err := openLocal(t, filepath.Join(dir, want.Root), delta.Options{})
				if err != nil {
					if lake.KindOf(err) != lake.Unsupported || !strings.Contains(c.Case, "catalog") {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				files, dvs, outside, err := liveOf(t, tab)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if tab.Version() != want.Version {
					t.Errorf("%s: version %d, want %d", name, tab.Version(), want.Version)
				}
				sorted := func(s []string) []string { s = append([]string{}, s...); slices.Sort(s); return s }
				if d := cmp.Diff(sorted(want.Live), sorted(files)); d != "" {
					t.Errorf("%s: live files (-want +got)\n%s", name, d)
				}
				if d := cmp.Diff(sorted(want.DVs), sorted(dvs)); d != "" {
					t.Errorf("%s: deletion vectors (-want +got)\n%s", name, d)
				}
				if len(outside) != len(want.Outside) {
					t.Errorf("%s: outside %v, want %v", name, outside, want.Outside)
				}
			}
		})
	}
}
