package place_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/sweep/internal/place"
)

// tree makes files below a new folder and returns a finder that works there.
func tree(t *testing.T, files ...string) (string, place.Finder) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, place.Finder{
		Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}},
		Now:    func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) },
		Getwd:  func() (string, error) { return dir, nil },
	}
}

const (
	deltaLog = "/_delta_log/00000000000000000000.json"
	hudiMark = "/.hoodie/hoodie.properties"
)

func TestRootsAreReadAsGiven(t *testing.T) {
	dir, f := tree(t)
	for given, want := range map[string]string{
		"t": dir + "/t", "./t/../u": dir + "/u", "/abs/t": "/abs/t", "a/b:c": dir + "/a/b:c", "s3://b/t": "s3://b/t", "file:/abs/t": "/abs/t",
	} {
		if root, err := f.Root(given); err != nil || root.String() != want {
			t.Errorf("%s is read as %v, %v; want %s", given, root, err, want)
		}
	}
	if _, err := f.Root("s3://b"); lake.KindOf(err) != lake.Invalid {
		t.Errorf("a bucket as a table: %v", err)
	}
	if root, err := f.Folder("s3://b"); err != nil || root.Path != "" {
		t.Errorf("a bucket as a folder: %v, %v", root, err)
	}
}

func TestFormatsAreTold(t *testing.T) {
	_, f := tree(t, "d"+deltaLog, "h"+hudiMark, "both"+deltaLog, "both"+hudiMark, "none/x")
	for _, c := range []struct{ table, asked, want string }{
		{"d", "", "delta"}, {"h", "", "hudi"}, {"both", "", "invalid"}, {"both", "hudi", "hudi"}, {"none", "", "not a table"},
		{"d", "hudi", "not a table"}, {"d", "iceberg", "invalid"}, {"gone", "", "not a table"},
	} {
		_, got, err := f.OpenAs(t.Context(), c.table, c.asked)
		switch lake.KindOf(err) {
		case lake.Invalid:
			got = "invalid"
		case lake.NotTable:
			got = "not a table"
		default:
			if err != nil {
				t.Error(err)
			}
		}
		if got != c.want {
			t.Errorf("%s as %q is %s, want %s (%v)", c.table, c.asked, got, c.want, err)
		}
	}
}

func TestTablesAroundAreFound(t *testing.T) {
	dir, f := tree(t, "d"+deltaLog, "d/in/here/x", "beside/x")
	for at, want := range map[string]string{"/d/in/here": "/d", "/d/in": "/d", "/d": "", "/beside": ""} {
		root, err := f.Root(dir + at)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = dir + want
		}
		if got, err := f.Enclosing(t.Context(), root); err != nil || got != want {
			t.Errorf("around %s lies %q, %v; want %q", at, got, err, want)
		}
	}
}

// Neither a path into a table nor a symlink that leads there is a place to write to.
func TestWhatWeWriteStaysOutsideTables(t *testing.T) {
	dir, f := tree(t, "d"+deltaLog, "beside/x")
	for link, to := range map[string]string{"beside/link": "d/new", "beside/folder": "d"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for at, inside := range map[string]bool{
		"d/new": true, "d/in/new": true, "beside/link": true, "beside/folder/new": true, "beside/new": false, "beside/in/new": false,
	} {
		err := f.Outside(t.Context(), "--out", at)
		if inside != (lake.KindOf(err) == lake.Invalid) || !inside && err != nil {
			t.Errorf("%s: %v, want it refused: %v", at, err, inside)
		}
	}
}

func TestTablesInsideAreFound(t *testing.T) {
	_, f := tree(t, "d"+deltaLog, "d/p=1/x", "d/in/t"+hudiMark, "d/in/t/p/q/x", "d/ice/metadata/v1.metadata.json", "d/ice/data/x")
	p, err := f.Open(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	inside := p.Insides()
	for dir, want := range map[lake.Key]string{"": "", "p=1": "", "in": "", "in/t": "in/t", "in/t/p/q": "in/t", "ice/data": "ice"} {
		root, ok, err := inside(t.Context(), dir)
		if err != nil || ok != (want != "") || ok && string(root) != want {
			t.Errorf("around %q lies %q, %v, %v; want %q", dir, root, ok, err, want)
		}
	}
}

// A table that is opened by a symlink holds files by the names of both, and
// what a symlink inside it leads to.
func TestOwnFilesAreKnownByAllTheirNames(t *testing.T) {
	dir, f := tree(t, "real"+deltaLog, "real/p/x", "else/y")
	for link, to := range map[string]string{"link": "real", "other": "real/p", "real/file": "real/p/x", "real/out": "else/y"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := f.Open(t.Context(), "link")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Aliases) != 1 || p.Aliases[0].String() != dir+"/real" {
		t.Errorf("the aliases are %v", p.Aliases)
	}
	for name, want := range map[string]string{"/real/p/x": "p/x", "/link/p/x": "p/x", "/other/x": "p/x", "/else/y": "", "/real/p/new": "p/new"} {
		got := ""
		for _, k := range p.Names.Inside("file:" + dir + name) {
			got = string(k)
		}
		if got != want {
			t.Errorf("%s is %q of the table, want %q", name, got, want)
		}
	}
	for link, want := range map[lake.Key]lake.Key{"file": "p/x", "out": "", "p/x": "p/x"} {
		if k, ok := p.Names.Target(link); ok != (want != "") || ok && k != want {
			t.Errorf("%s leads to %q, %v; want %q", link, k, ok, want)
		}
	}
}
