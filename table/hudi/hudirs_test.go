package hudi

import (
	"archive/zip"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// The tables that hudi-rs tests its reader with, of versions 6, 8 and 9, by
// every kind of key generator, with Parquet and Lance files. Each opens, has a
// plan under each policy, and nothing in it is amiss.
func TestTablesOfHudiRS(t *testing.T) {
	const folder = "../../../shared/fixtures/hudi/hudi-rs"
	var zips []string
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".zip") {
			zips = append(zips, path)
		}
		return nil // where the folder is absent there is none
	})
	if len(zips) == 0 {
		t.Skip("no " + folder + " beside the project")
	}
	for _, path := range zips {
		t.Run(strings.TrimPrefix(path, folder+"/"), func(t *testing.T) {
			t.Parallel()
			s, now := unzipped(t, path)
			tab, err := Open(t.Context(), s, lake.Root{Scheme: "mem", Path: "t"}, Options{Zone: time.UTC, Now: func() time.Time { return now }, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			version := strings.Split(filepath.Base(path), "_")[0] // "v6"
			if info := tab.Info(); "v"+tab.snap.Version != version || info.Format != "hudi" || (tab.Type() == "MERGE_ON_READ") != strings.Contains(path, "/mor/") {
				t.Errorf("%+v, version %s, %s", info, tab.snap.Version, tab.Type())
			}
			if err := tab.Verify(t.Context(), func(f table.Finding) error { t.Errorf("%+v", f); return nil }); err != nil {
				t.Fatal(err)
			}
			for _, c := range []retain.Config{commits(1), hours(1), versions(1)} {
				p, err := tab.Plan(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if dead(t, p); len(p.Summary.LiveMissing) > 0 {
					t.Errorf("%s: missing %q", c.Policy, p.Summary.LiveMissing)
				}
			}
		})
	}
}

// unzipped returns the table in an archive, and a time after its last write.
func unzipped(t *testing.T, path string) (*mem.Store, time.Time) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close() //nolint:errcheck // read only
	root, now := "", time.Time{}
	for _, f := range z.File {
		if at, ok := strings.CutSuffix(f.Name, ".hoodie/hoodie.properties"); ok && !strings.HasSuffix(at, ".hoodie/metadata/") {
			root = at
		}
	}
	s := mem.New(mem.Options{})
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, root)
		if !ok || f.FileInfo().IsDir() || strings.HasPrefix(name, "__MACOSX") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(name, data, f.Modified)
		if f.Modified.After(now) {
			now = f.Modified
		}
	}
	return s, now.Add(time.Hour)
}
