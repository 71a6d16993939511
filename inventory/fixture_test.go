package inventory

import (
	"archive/tar"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
)

func now() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }

func stores() store.Opener {
	return store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}}
}

// unpackFixture unpacks shared/fixtures/delta/NAME.tar.gz, with its times.
func unpackFixture(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open("../../shared/fixtures/delta/" + name + ".tar.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared with the fixtures is absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return filepath.Join(dir, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(at, 0o755)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), copyFile(at, in), os.Chtimes(at, h.ModTime, h.ModTime))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(at string, in io.Reader) error {
	out, err := os.Create(at)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// scan returns the files, sorted by name, that a list shows below root.
func scan(t *testing.T, o Options, root string, maps ...Map) ([]store.Info, Counts, Resolved, Info) {
	t.Helper()
	o.Stores, o.Now = stores(), now
	place, err := lake.ParseRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewResolver([]lake.Root{place}, maps)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("%s: %v (%s)", o.Source, err, lake.HintOf(err))
	}
	var mu sync.Mutex
	var out []store.Info
	counts, err := s.Scan(t.Context(), r, func(_ int, objects []store.Info) error {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range objects {
			if o.Kind == store.File {
				out = append(out, o)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", o.Source, err)
	}
	slices.SortFunc(out, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return out, counts, r.Counts(), s.Info()
}

// Every form of the fixture's inventory shows the same files with the same
// sizes and times; the names of the table's own log are left out.
func TestFixtureFormsAgree(t *testing.T) {
	dir := unpackFixture(t, "events-ymdh") + "/inventories/"
	const root = "s3://example-lake/warehouse/sales/events"
	want := fixtureFiles(t, dir+"relative.csv")
	taken := time.Date(2020, 1, 31, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		source, root, kind string
		taken              bool
		bare               bool // names only
	}{
		{source: "spark-schema.csv", kind: "csv"},
		{source: "spark-schema.parquet", kind: "parquet"},
		{source: "relative.csv", kind: "csv"},
		{source: "spark-schema-delta", kind: "delta"},
		{source: "paths.txt", kind: "paths", bare: true},
		{source: "s3-inventory/example-lake/daily-csv/2020-01-31T00-00Z/manifest.json", kind: "s3-inventory", taken: true},
		{source: "s3-inventory/example-lake/daily-csv/2020-01-31T00-00Z", kind: "s3-inventory", taken: true},
		{source: "s3-inventory/example-lake/daily-parquet/2020-01-31T00-00Z/manifest.json", kind: "s3-inventory", taken: true},
		{source: "gcs-insights/5d1f0000-0000-4000-8000-0000000000aa_2020-01-31T00:00_manifest.json", root: "gs://example-lake/warehouse/sales/events", kind: "gcs-insights", taken: true},
		{source: "azure-blob-inventory/2020/01/31/00-00-00/daily/daily-manifest.json", root: "abfss://example-lake@exampleacct.dfs.core.windows.net/warehouse/sales/events", kind: "azure-inventory", taken: true},
	} {
		t.Run(strings.ReplaceAll(c.source, "/", "_"), func(t *testing.T) {
			if c.root == "" {
				c.root = root
			}
			got, counts, resolved, info := scan(t, Options{Source: dir + c.source}, c.root)
			names := map[string]store.Info{}
			for _, o := range got {
				o.ETag = ""
				names[o.Name] = o // the same row twice counts once
			}
			for name, w := range want {
				if c.bare {
					w.Size, w.Modified = -1, time.Time{}
				}
				if g := names[name]; !cmp.Equal(g, w) {
					t.Errorf("%s: got %+v, want %+v", name, g, w)
				}
			}
			if len(names) != len(want) {
				t.Errorf("%d names, want %d", len(names), len(want))
			}
			if info.Kind != c.kind || c.taken && (!info.Taken.Equal(taken) || info.TakenFrom != "manifest") {
				t.Errorf("info %+v", info)
			}
			if counts.Undecodable > 0 || resolved.Odd > 0 || resolved.Outside == 0 && c.source != "relative.csv" {
				t.Errorf("counts %+v, resolved %+v", counts, resolved)
			}
			t.Logf("%+v %+v %+v", info, counts, resolved)
		})
	}
}

// The traps of the fixture, one by one.
func TestFixtureTraps(t *testing.T) {
	dir := unpackFixture(t, "events-ymdh") + "/inventories/"
	_, counts, _, _ := scan(t, Options{Source: dir + "s3-inventory/example-lake/daily-csv/2020-01-31T00-00Z/manifest.json"}, "s3://example-lake/warehouse/sales/events")
	if counts.OldVersions != 2 || counts.Deleted != 1 || counts.Directories != 1 {
		t.Errorf("old versions, delete markers and placeholders: %+v", counts)
	}
	_, counts, _, _ = scan(t, Options{Source: dir + "azure-blob-inventory/2020/01/31/00-00-00/daily/daily-manifest.json"}, "az://example-lake/warehouse/sales/events")
	if counts.Deleted != 1 || counts.Directories == 0 {
		t.Errorf("soft-deleted and folders: %+v", counts)
	}
	got, _, resolved, _ := scan(t, Options{Source: dir + "spark-schema.csv"}, "/data/events", Map{From: "s3://example-lake/warehouse/sales/events", To: "/data/events"})
	if len(got) < 40 || resolved.Outside != 3 {
		t.Errorf("mapped to a local root: %d files, %+v", len(got), resolved)
	}
}

// fixtureFiles reads relative.csv with encoding/csv.
func fixtureFiles(t *testing.T, name string) map[string]store.Info {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]store.Info{}
	for _, r := range records[1:] {
		var size, ms int64
		if err := errors.Join(json.Unmarshal([]byte(r[1]), &size), json.Unmarshal([]byte(r[3]), &ms)); err != nil {
			t.Fatal(err)
		}
		if r[2] == "false" && !strings.HasPrefix(r[0], "_delta_log/") {
			out[r[0]] = store.Info{Name: r[0], Size: size, Modified: time.UnixMilli(ms).UTC()}
		}
	}
	return out
}

// A Delta table whose Parquet files alone don't say what its rows are is refused.
func TestDeltaListsRefused(t *testing.T) {
	for name, word := range map[string]string{"dv-basic": "deletion vectors", "column-mapping-prefix": "column mapping"} {
		source := unpackFixture(t, name) + "/table"
		_, err := Open(t.Context(), Options{Source: source, Stores: stores(), Now: now})
		if lake.KindOf(err) != lake.Unsupported || !strings.Contains(err.Error(), word) || lake.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
