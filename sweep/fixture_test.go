package sweep

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
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/s3"
	"github.com/lakesweep/lakesweep/store/s3/s3test"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// fixtures is the folder of real tables, beside the project.
const fixtures = "../../shared/fixtures/delta"

func needFixtures(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(fixtures); err != nil {
		t.Skipf("the fixtures of real tables are not at %s", fixtures)
	}
}

// packed is a file in an archive of fixtures.
type packed struct {
	name     string
	body     []byte
	modified time.Time
}

func readArchive(t *testing.T, name string) (files []packed) {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, packed{strings.TrimPrefix(h.Name, "./"), body, h.ModTime})
	}
}

// fixtureCase is what we need of a case's JSON (fixtures/delta/README.md).
type fixtureCase struct {
	Case string
	Runs []struct {
		ID, Table, Mode, Now, Cutoff string
		Retain                       *float64 `json:"retain_hours"`
		Expected                     struct {
			Files    []string
			Either   []string `json:"either_ok"`
			MustStay []string `json:"must_stay"`
			Refuse   string
			OrRefuse string `json:"or_refuse"`
		}
	}
}

// TestFixturesFromS3 uploads every real table and plans each run of its case:
// the lists are those from a disk.
func TestFixturesFromS3(t *testing.T) {
	needFixtures(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	server := s3test.New(t)
	o := s3.Options{Endpoint: server.URL, Region: "us-east-1"}
	e := &Engine{Stores: store.Registry{Classes: map[string]store.OpenFunc{"s3": s3.New(o).Open}}, Now: time.Now, StateDir: t.TempDir(), Tool: "lakesweep test", Getwd: os.Getwd}
	names, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c fixtureCase
		if json.Unmarshal(text, &c) != nil || len(c.Runs) == 0 {
			continue
		}
		bucket := server.Bucket("b-" + c.Case)
		for _, f := range readArchive(t, c.Case+".tar.gz") {
			for _, root := range []string{"file://{{ROOT}}", "file:{{ROOT}}"} {
				f.body = bytes.ReplaceAll(f.body, []byte(root), []byte("s3://b-"+c.Case))
			}
			bucket.Put(f.name, bytes.ReplaceAll(f.body, []byte("{{ROOT}}"), nil), f.modified)
		}
		for i := range c.Runs {
			r := &c.Runs[i]
			runs++
			t.Run(c.Case+"/"+r.ID, func(t *testing.T) {
				table := "s3://b-" + c.Case + "/" + r.Table
				req := PlanRequest{Table: table, Format: "delta", Mode: r.Mode, Unsafe: Unsafe{RetainBelow: table, MostlyDead: table}}
				switch retain := r.Retain; {
				case r.Cutoff != "":
					req.Cutoff = instant(t, r.Cutoff)
				case r.Now != "":
					var hours float64
					if retain != nil {
						hours = *retain
					}
					req.Cutoff = instant(t, r.Now).Add(-time.Duration(hours * float64(hour)))
				case retain != nil:
					d := time.Duration(*retain * float64(hour))
					req.Retain = &d
				}
				p, err := e.Plan(t.Context(), req, "")
				refused := err != nil
				var got []string
				if !refused {
					defer closePlan(t, p)
					for _, g := range p.Head().Guards {
						refused = refused || g.Outcome == "refused"
					}
					for v, err := range p.Rows() {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, string(v.Key))
					}
				} else if k := lake.KindOf(err); !slices.Contains([]lake.Kind{lake.Refused, lake.Damaged, lake.Unsupported, lake.NotTable}, k) {
					t.Fatalf("%v (%v)", err, k)
				}
				x := &r.Expected
				switch {
				case x.Refuse != "" && !refused:
					t.Errorf("isn't refused (%s), lists %q", x.Refuse, got)
				case x.Refuse != "", refused && x.OrRefuse != "":
					return
				case refused:
					t.Errorf("refused: %v", err)
				}
				for _, k := range got {
					if slices.Contains(x.MustStay, k) || !slices.Contains(x.Files, k) && !slices.Contains(x.Either, k) {
						t.Errorf("%q would die", k)
					}
				}
				for _, k := range x.Files {
					if !slices.Contains(got, k) && !slices.Contains(x.Either, k) {
						t.Errorf("%q would stay", k)
					}
				}
			})
		}
	}
	if runs < 40 {
		t.Errorf("only %d runs found", runs)
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestGoldenTablesKeepTheirLiveFiles plans every golden table of other
// engines at retention zero, on a disk: what those engines read as live, with
// its deletion vectors, is never dead.
func TestGoldenTablesKeepTheirLiveFiles(t *testing.T) {
	needFixtures(t)
	text, err := os.ReadFile(filepath.Join(fixtures, "live-files.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Archives map[string]map[string]struct{ Data, DV []string }
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	planned := 0
	for archive, tables := range all.Archives {
		dir := filepath.Join(t.TempDir(), "x")
		for _, f := range readArchive(t, archive) {
			if err := deltatest.Dir(dir).Put(f.name, bytes.ReplaceAll(f.body, []byte("{{ROOT}}"), []byte(dir)), f.modified); err != nil {
				t.Fatal(err)
			}
		}
		w := newWorld(t)
		w.now = time.Now()
		for name, want := range tables {
			w.given = filepath.Join(dir, name)
			p, err := w.e.Plan(t.Context(), w.request(0, "full"), "")
			if err != nil {
				if k := lake.KindOf(err); !slices.Contains([]lake.Kind{lake.Damaged, lake.Unsupported, lake.NotTable}, k) {
					t.Errorf("%s: %v (%v)", name, err, k)
				}
				continue
			}
			planned++
			live := map[string]bool{}
			for _, k := range append(want.Data, want.DV...) {
				live[k] = true
			}
			for v, err := range p.Rows() {
				if err != nil {
					t.Fatal(err)
				}
				if live[string(v.Key)] {
					t.Errorf("%s: live %q is dead", name, v.Key)
				}
			}
			closePlan(t, p)
		}
	}
	if planned < 50 {
		t.Errorf("only %d tables could be planned", planned)
	}
}
