package duckdb

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
)

func TestTranslate(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT path FROM parquet.`/d/x.parquet`":      "SELECT path FROM read_parquet('/d/x.parquet')",
		"SELECT path FROM Parquet.`s3://b/inv/`":       "SELECT path FROM read_parquet('s3://b/inv/**/*.parquet')",
		"SELECT * FROM csv.`/d/x.csv.gz` c":            "SELECT * FROM read_csv('/d/x.csv.gz') c",
		"SELECT * FROM delta.`/d/it's`":                "SELECT * FROM delta_scan('/d/it''s')",
		"SELECT `a``b` FROM x.`y`":                     "SELECT \"a`b\" FROM x.\"y\"",
		"SELECT 'parquet.`x`', \"`\" -- `a\n FROM `t`": "SELECT 'parquet.`x`', \"`\" -- `a\n FROM \"t\"",
		"SELECT 'it''s `x`' /* `y` */ FROM `t`":        "SELECT 'it''s `x`' /* `y` */ FROM \"t\"",
		"SELECT a FROM my_parquet.`x`":                 "SELECT a FROM my_parquet.\"x\"",
		"SELECT `":                                     "SELECT `",
		"":                                             "",
	} {
		if got := translate(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{"SELECT `a` FROM parquet.`b` -- `", "'`", "/*`", "``", "parquet.``", "\"\"\"`x`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := translate(s); !bytes.Contains([]byte(s), []byte("`")) && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestNoProgram(t *testing.T) {
	err := Program{Path: filepath.Join(t.TempDir(), "duckdb")}.Query(t.Context(), nil, "SELECT 1", "x")
	if lake.KindOf(err) != lake.Unsupported || lake.HintOf(err) == "" {
		t.Error(err)
	}
}

// rows returns the keys that a query shows below s3://b/t.
func rows(t *testing.T, source, query string) ([]string, inventory.Info, error) {
	t.Helper()
	if _, err := exec.LookPath("duckdb"); err != nil {
		t.Skip("there is no duckdb program on the PATH")
	}
	src, err := inventory.Open(t.Context(), inventory.Options{Source: source, SQL: query, Engine: Program{}, Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}}})
	if err != nil {
		return nil, inventory.Info{}, err
	}
	r, err := inventory.NewResolver([]lake.Root{{Scheme: "s3", Authority: "b", Path: "t"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var out []string
	if _, err := src.Scan(t.Context(), r, func(_ int, objects []store.Info) error {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range objects {
			if o.Size != 7 || o.Modified.Year() != 2020 {
				t.Errorf("%+v", o)
			}
			out = append(out, o.Name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out, src.Info(), nil
}

func TestQuery(t *testing.T) {
	list := filepath.Join(t.TempDir(), "it's.csv")
	text := "path,length,modificationTime\ns3://b/t/p=1/a,7,1577836800000\ns3://b/t/p=2/b,7,1577836800000\ns3://b/u/c,7,1577836800000\n"
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(list, at, at); err != nil {
		t.Fatal(err)
	}
	got, info, err := rows(t, list, "SELECT * FROM inventory WHERE path LIKE '%p=1%'")
	if err != nil || !slices.Equal(got, []string{"p=1/a"}) || !info.Taken.Equal(at) || info.Kind != "sql" {
		t.Errorf("%q, %+v, %v", got, info, err)
	}
	got, _, err = rows(t, "", "SELECT path, length, modificationTime FROM csv.`"+list+"`;")
	if err != nil || !slices.Equal(got, []string{"p=1/a", "p=2/b"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"SELECT", "SELECT 1; SELECT 2", "SELECT nope FROM inventory", "SELECT size FROM inventory"} {
		if got, _, err := rows(t, list, bad); lake.KindOf(err) != lake.Invalid || lake.HintOf(err) == "" {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
}
