package inventory

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

// The tables were written elsewhere: they are read where they lie, by their
// folder or by a metadata file.
func TestIcebergTables(t *testing.T) {
	journal := filepath.Join("internal", "iceberg", "testdata", "journal")
	first, err := filepath.Glob(filepath.Join(journal, "metadata", "00001-*.metadata.json"))
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	for _, c := range []struct {
		source  string
		deleted int64
		want    []string
	}{
		{journal, 1, []string{"a+b c.parquet", "b.parquet", "c.parquet", "d.parquet"}},
		{first[0], 0, []string{"a+b c.parquet", "b.parquet"}},
		{filepath.Join("internal", "iceberg", "testdata", "old"), 0, []string{"a", "b"}},
	} {
		objects, counts, resolved, info := scan(t, Options{Source: c.source}, "s3://lake/t")
		var names []string
		for _, o := range objects {
			names = append(names, o.Name)
			if o.Kind != store.File || o.Size <= 0 {
				t.Errorf("%s: %+v", c.source, o)
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s: %s", c.source, diff)
		}
		if info.Kind != "iceberg" || info.TakenFrom != "list" || counts.Deleted != c.deleted || resolved.Outside > 1 {
			t.Errorf("%s: %+v, %+v, %+v", c.source, info, counts, resolved)
		}
	}
}

// A column counts by its id: what it was called when a file was written, and
// what another column is called now, mislead nobody.
func TestIcebergColumnsCountByTheirIDs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("internal", "iceberg", "testdata", "journal"))); err != nil {
		t.Fatal(err)
	}
	newest, err := filepath.Glob(filepath.Join(dir, "metadata", "00004-*.metadata.json"))
	if err != nil || len(newest) != 1 {
		t.Fatal(newest, err)
	}
	data, err := os.ReadFile(newest[0])
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	fields := m["schemas"].([]any)[0].(map[string]any)["fields"].([]any)
	for _, f := range fields {
		switch f := f.(map[string]any); f["name"] {
		case "key":
			f["name"] = "was_key"
		case "sequence_number":
			f["name"] = "key"
		}
	}
	if data, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(newest[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, resolved, _ := scan(t, Options{Source: dir}, "s3://lake/t"); resolved.Outside != 5 { // the sequence numbers
		t.Errorf("%+v", resolved)
	}
	objects, _, _, _ := scan(t, Options{Source: dir, Columns: map[string]string{"path": "was_key", "bucket": "bucket"}}, "s3://lake/t")
	if len(objects) != 4 {
		t.Errorf("%v", objects)
	}
}

func TestIcebergTablesThatCantBeRead(t *testing.T) {
	copied := func(name string) string {
		dir := filepath.Join(t.TempDir(), "t")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("internal", "iceberg", "testdata", name))); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	remove := func(dir, pattern string) string {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		if err := os.Remove(found[0]); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for what, dir := range map[string]string{
		"a data file":     remove(copied("journal"), "data/*a25d0b08*.parquet"),
		"a manifest":      remove(copied("journal"), "metadata/*-m0.avro"),
		"a manifest list": remove(copied("old"), "metadata/snap-*.avro"),
	} {
		src, err := Open(t.Context(), Options{Source: dir, Stores: stores(), Now: now})
		if err == nil {
			_, err = src.Rows(t.Context(), func([]Row) error { return nil })
		}
		if lake.KindOf(err) != lake.Damaged || !strings.Contains(err.Error(), dir) {
			t.Errorf("without %s: %v", what, err)
		}
	}
}
