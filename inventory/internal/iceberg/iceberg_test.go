package iceberg_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/avro/ocf"

	"github.com/lakesweep/lakesweep/inventory/internal/iceberg"
	"github.com/lakesweep/lakesweep/lake"
)

// table reads a table of testdata; change may replace what a file holds.
func table(t testing.TB, name string, change func(file string, data []byte) []byte) (*iceberg.Table, error) {
	t.Helper()
	dir := filepath.Join("testdata", name)
	read := func(file string) ([]byte, error) {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err == nil && change != nil {
			data = change(file, data)
		}
		return data, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	current, err := iceberg.Current(names, "")
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := read("metadata/" + current)
	if err != nil {
		t.Fatal(err)
	}
	return iceberg.Read(t.Context(), metadata, func(_ context.Context, location, path string) ([]byte, error) {
		below, ok := strings.CutPrefix(path, location+"/")
		if !ok {
			return nil, fs.ErrNotExist
		}
		return read(below)
	})
}

func TestTablesOfPyIceberg(t *testing.T) {
	for name, want := range map[string]struct{ files, rows int64 }{"journal": {3, 6}, "old": {2, 2}} {
		got, err := table(t, name, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		var files, rows int64
		for _, f := range got.Files {
			below, ok := strings.CutPrefix(f.Path, got.Location+"/")
			info, err := os.Stat(filepath.Join("testdata", name, below))
			if !ok || err != nil || info.Size() != f.Size {
				t.Errorf("%s: %+v, %v", name, f, err)
			}
			files, rows = files+1, rows+f.Rows
		}
		if files != want.files || rows != want.rows || got.Taken.Year() < 2024 {
			t.Errorf("%s: %d files of %d rows, taken %v", name, files, rows, got.Taken)
		}
	}
	got, err := table(t, "journal", nil)
	if err != nil || got.Names[2] != "key" || len(got.Names) != 11 {
		t.Errorf("%v, %v", got.Names, err)
	}
}

// changed rewrites every record of an Avro file.
func changed(t testing.TB, data []byte, change func(map[string]any)) []byte {
	t.Helper()
	r, err := ocf.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, r.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for {
		var record map[string]any
		if err := r.Decode(&record); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		change(record)
		if err := w.Encode(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRefused(t *testing.T) {
	isList := func(file string) bool { return strings.HasPrefix(file, "metadata/snap-") }
	isManifest := func(file string) bool { return strings.HasSuffix(file, "-m0.avro") }
	isMetadata := func(file string) bool { return strings.HasSuffix(file, ".metadata.json") }
	dataFile := func(field string, value any) func([]byte) []byte {
		return func(data []byte) []byte {
			return changed(t, data, func(r map[string]any) { r["data_file"].(map[string]any)[field] = value })
		}
	}
	text := func(old, new string) func([]byte) []byte {
		return func(data []byte) []byte { return bytes.Replace(data, []byte(old), []byte(new), 1) }
	}
	for name, c := range map[string]struct {
		file   func(string) bool
		change func([]byte) []byte
		kind   lake.Kind
		words  string
	}{
		"a manifest of deletes": {isList, func(data []byte) []byte {
			return changed(t, data, func(r map[string]any) { r["content"] = int32(1) })
		}, lake.Unsupported, "delete file"},
		"a file of position deletes":   {isManifest, dataFile("content", int32(1)), lake.Unsupported, "delete file"},
		"a file of equality deletes":   {isManifest, dataFile("content", int32(2)), lake.Unsupported, "delete file"},
		"ORC":                          {isManifest, dataFile("file_format", "ORC"), lake.Unsupported, "ORC"},
		"a size that is none":          {isManifest, dataFile("file_size_in_bytes", int64(0)), lake.Damaged, "0 bytes"},
		"an encrypted file":            {isManifest, dataFile("key_metadata", []byte("k")), lake.Unsupported, "encrypted"},
		"a manifest that is cut":       {isManifest, func(data []byte) []byte { return data[:len(data)-20] }, lake.Damaged, "-m0.avro"},
		"a list that is cut":           {isList, func(data []byte) []byte { return data[:len(data)-20] }, lake.Damaged, "snap-"},
		"a list that is empty":         {isList, func([]byte) []byte { return nil }, lake.Damaged, "snap-"},
		"metadata that is cut":         {isMetadata, func(data []byte) []byte { return data[:len(data)-20] }, lake.Damaged, "metadata"},
		"a newer format":               {isMetadata, text(`"format-version":2`, `"format-version":4`), lake.Unsupported, "version 4"},
		"no format":                    {isMetadata, text(`"format-version"`, `"x"`), lake.Damaged, "format-version"},
		"a snapshot that isn't there":  {isMetadata, text(`"current-snapshot-id":`, `"current-snapshot-id":1`), lake.Damaged, "current snapshot"},
		"a snapshot without a list":    {isMetadata, func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(`"manifest-list"`), []byte(`"x"`)) }, lake.Unsupported, "manifest list"},
		"an entry of an unknown state": {isManifest, func(data []byte) []byte { return changed(t, data, func(r map[string]any) { r["status"] = int32(3) }) }, lake.Unsupported, "status 3"},
	} {
		got, err := table(t, "journal", func(file string, data []byte) []byte {
			if c.file(file) {
				return c.change(data)
			}
			return data
		})
		if err == nil || lake.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.words) || lake.HintOf(err) == "" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	for _, current := range []string{"", `,"current-snapshot-id":null`, `,"current-snapshot-id":-1`} {
		got, err := iceberg.Read(t.Context(), []byte(`{"format-version":1,"location":"s3://b/t/"`+current+`}`), nil)
		if err != nil || len(got.Files) > 0 || got.Location != "s3://b/t" || !got.Taken.IsZero() {
			t.Errorf("%s: %+v, %v", current, got, err)
		}
	}
}

func TestCurrent(t *testing.T) {
	for _, c := range []struct {
		names, hint, want string
	}{
		{"00000-a.metadata.json 00010-b.metadata.json 00009-c.metadata.json snap-1.avro", "", "00010-b.metadata.json"},
		{"v1.metadata.json v12.metadata.json v2.metadata.json", "", "v12.metadata.json"},
		{"v1.metadata.json v12.metadata.json v2.metadata.json", "2\n", "v2.metadata.json"},
		{"00001-a.gz.metadata.json 00000-a.metadata.json", "", "00001-a.gz.metadata.json"},
		{"v3.metadata.json.gz v2.metadata.json", "", "v3.metadata.json.gz"},
		{"00001-a.metadata.json 00001-b.metadata.json", "", ""},
		{"v1.metadata.json", "7", ""},
		{"x.metadata.json snap-1.avro", "", ""},
		{"", "", ""},
	} {
		got, err := iceberg.Current(strings.Fields(c.names), c.hint)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s, hint %q: %q, %v", c.names, c.hint, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"journal", "old"} {
		var metadata, list, manifest []byte
		if _, err := table(f, name, func(file string, data []byte) []byte {
			switch {
			case strings.HasSuffix(file, ".json"):
				metadata = data
			case strings.HasPrefix(file, "metadata/snap-"):
				list = data
			default:
				manifest = data
			}
			return data
		}); err != nil {
			f.Fatal(err)
		}
		f.Add(metadata, list, manifest)
	}
	f.Fuzz(func(t *testing.T, metadata, list, manifest []byte) {
		files := [][]byte{list}
		got, err := iceberg.Read(t.Context(), metadata, func(context.Context, string, string) ([]byte, error) {
			data := files[0]
			if files = append(files[1:], manifest); len(files) > 1 {
				files = files[:1]
			}
			return data, nil
		})
		if err != nil {
			if kind := lake.KindOf(err); kind != lake.Damaged && kind != lake.Unsupported {
				t.Fatalf("%v: %v", kind, err)
			}
			return
		}
		if slices.ContainsFunc(got.Files, func(f iceberg.File) bool { return f.Path == "" || f.Size <= 0 }) {
			t.Fatalf("%+v", got.Files)
		}
	})
}
