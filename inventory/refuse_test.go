package inventory

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
)

const somePaths = "path,size\ns3://b/t/x,1\ns3://b/t/y,2\n"

// Every list that can't be read as a whole ends with an error of the right
// kind that says what to do.
func TestRefused(t *testing.T) {
	s3 := func(change func(s *shelf)) func(s *shelf) string {
		return func(s *shelf) string {
			os := []object{{"t/a", 1, 1e12}, {"t/b", 2, 1e12}}
			source := s.s3Report("CSV", s3Schema, gz(asCSV(',', records(os[:1], s3Record)...)), gz(asCSV(',', records(os[1:], s3Record)...)))
			change(s)
			return source
		}
	}
	file := func(name, data string) func(*shelf) string {
		return func(s *shelf) string {
			s.Put(name, []byte(data), written)
			return "mem://shelf/" + name
		}
	}
	const first, manifest = "inv/b/daily/data/0.csv", "inv/b/daily/2024-05-06T07-08Z/manifest.json"
	data := func(s *shelf, name string) []byte {
		p := part.Part{Reader: s, Name: name, Size: -1}
		b, err := p.All(context.Background(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	remove := func(s *shelf, name string) {
		if err := s.Remove(context.Background(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		put     func(*shelf) string
		columns map[string]string
		kind    lake.Kind
		words   string
	}{
		"nothing there":                 {put: func(*shelf) string { return "mem://shelf/none" }, kind: lake.Invalid},
		"an unknown scheme":             {put: func(*shelf) string { return "nope://x/y" }, kind: lake.Invalid},
		"no column of paths":            {put: file("l.csv", "a,b\n1,2\n"), kind: lake.Invalid, words: "column"},
		"a column that isn't there":     {put: file("l.csv", somePaths), columns: map[string]string{"path": "nope"}, kind: lake.Invalid, words: `"nope"`},
		"a word that is no column":      {put: file("l.csv", somePaths), columns: map[string]string{"pth": "path"}, kind: lake.Invalid, words: `"pth"`},
		"an unknown encoding":           {put: file("l.csv", somePaths), columns: map[string]string{"encoding": "rot13"}, kind: lake.Invalid},
		"a record with too few fields":  {put: file("l.csv", somePaths+"s3://b/t/z\n"), kind: lake.Damaged, words: "record 4"},
		"a record with too many fields": {put: file("l.csv", somePaths+"s3://b/t/a,b,1\n"), kind: lake.Damaged, words: "record 4"},
		"a quote without an end":        {put: file("l.csv", somePaths+"\"s3://b"), kind: lake.Damaged},
		"a packed text that is cut":     {put: file("l.csv.gz", string(gz([]byte(strings.Repeat(somePaths, 50)))[:60])), kind: lake.Damaged},
		"a packed text with junk after": {put: file("l.csv.gz", string(gz([]byte(somePaths)))+"junk"), kind: lake.Damaged},
		"ORC":                           {put: file("l.orc", "ORC..."), kind: lake.Unsupported, words: "ORC"},
		"Avro":                          {put: file("l.avro", "Obj\x01..."), kind: lake.Unsupported, words: "Avro"},
		"UTF-16":                        {put: file("l.csv", "\xff\xfep\x00a\x00"), kind: lake.Unsupported, words: "UTF-16"},
		"a JSON array":                  {put: file("l.json", "[\n {\"path\":\"x\"}]"), kind: lake.Unsupported, words: "array"},
		"JSON lines that are cut":       {put: file("l.jsonl", `{"path":"x"}`+"\n"+`{"path":"y"`), kind: lake.Damaged},
		"JSON lines without paths":      {put: file("l.jsonl", `{"a":"x"}`+"\n"), kind: lake.Invalid},
		"a Parquet file that is cut":    {put: file("l.parquet", "PAR1..."), kind: lake.Damaged},
		"a manifest that is none":       {put: file("manifest.json", "{}"), kind: lake.Damaged},
		"a manifest that is cut":        {put: file("manifest.json", `{"sourceBucket":`), kind: lake.Damaged},
		"a report in ORC":               {put: file("manifest.json", `{"sourceBucket":"b","fileFormat":"ORC","fileSchema":"x","files":[]}`), kind: lake.Unsupported, words: "ORC"},
		"an Azure run that isn't over":  {put: file("daily-manifest.json", `{"destinationContainer":"c","status":"Pending","ruleDefinition":{}}`), kind: lake.Damaged, words: "Pending"},
		"an Azure list of containers":   {put: file("daily-manifest.json", `{"status":"Succeeded","ruleDefinition":{"objectType":"container"}}`), kind: lake.Invalid},
		"GCS: a shard too few":          {put: file("x_manifest.json", `{"report_config":{},"shard_count":2,"report_shards_file_names":["a"]}`), kind: lake.Damaged},
		"GCS: no header, no names":      {put: file("x_manifest.json", `{"report_config":{"csv_options":{"header_required":false}},"report_shards_file_names":["a"]}`), kind: lake.Invalid, words: "header"},
		"GCS: other number of rows": {put: func(s *shelf) string {
			s.Put("a.csv", []byte("bucket,name\nb,t/x\n"), written)
			return file("x_manifest.json", `{"report_config":{"csv_options":{"header_required":true}},"records_processed":2,"report_shards_file_names":["a.csv"]}`)(s)
		}, kind: lake.Damaged, words: "2"},
		"a data file is missing":          {put: s3(func(s *shelf) { remove(s, first) }), kind: lake.Damaged, words: "0.csv"},
		"the second data file is missing": {put: s3(func(s *shelf) { remove(s, "inv/b/daily/data/1.csv") }), kind: lake.Damaged, words: "missing"},
		"a data file is longer":           {put: s3(func(s *shelf) { s.Put(first, append(data(s, first), '\n'), written) }), kind: lake.Damaged},
		"a data file was changed": {put: s3(func(s *shelf) {
			s.Put(first, gz([]byte("\"b\",\"t/zzz\",\"v1\",\"True\",\"False\",\"1\",\"2001-09-09T01:46:40.000Z\",\"abc\",\"STANDARD\"\n")), written)
		}), kind: lake.Damaged},
		"the manifest was changed":         {put: s3(func(s *shelf) { s.Put(manifest, append(data(s, manifest), ' '), written) }), kind: lake.Damaged, words: "MD5"},
		"the manifest's checksum is empty": {put: s3(func(s *shelf) { s.Put(strings.Replace(manifest, ".json", ".checksum", 1), nil, written) }), kind: lake.Damaged},
		"an Iceberg table of a newer format": {put: func(s *shelf) string {
			s.Put("ice/metadata/v1.metadata.json", []byte(`{"format-version":9,"location":"mem://shelf/ice"}`), written)
			return "mem://shelf/ice"
		}, kind: lake.Unsupported, words: "version 9"},
		"a Hudi table": {put: func(s *shelf) string {
			s.Put("hudi/.hoodie/hoodie.properties", nil, written)
			return "mem://shelf/hudi"
		}, kind: lake.Unsupported, words: "Hudi"},
		"a folder of two forms": {put: func(s *shelf) string {
			s.Put("f/a.csv", []byte(somePaths), written)
			s.Put("f/b.parquet", nil, written)
			return "mem://shelf/f"
		}, kind: lake.Invalid, words: "forms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			rows, _, err := s.read(t.Context(), Options{Source: c.put(s), Columns: c.columns}, "s3")
			if err == nil || lake.KindOf(err) != c.kind || lake.HintOf(err) == "" || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v: %v (hint %q), want %v with %q", rows, err, lake.HintOf(err), c.kind, c.words)
			}
		})
	}
}

var errStore = errors.New("the store fails")

// Whatever call to the store fails, and however, the error comes out, or (where
// files of a report are looked for in several folders) all rows do.
func TestEveryStoreCallMayFail(t *testing.T) {
	os := []object{{"t/a", 1, 1e12}, {"t/b", 2, 1e12}, {"t/c", 3, 1e12}, {"t/d", 4, 1e12}}
	for _, f := range testForms {
		for n := int64(1); ; n++ {
			s := newShelf()
			source := f.put(s, os)
			struck := false
			faults := store.NewFaults(func(c store.Call) store.Injection {
				if c.N != n {
					return store.Injection{}
				}
				struck = true
				return store.Injection{Err: errStore, When: store.Moment(n % 3)}
			})
			s.wrap = faults.Wrap
			scheme := f.scheme
			if scheme == "" {
				scheme = "s3"
			}
			rows, _, err := s.read(t.Context(), Options{Source: source, Columns: f.columns}, scheme)
			if !struck {
				break
			}
			if err == nil && !cmp.Equal(rows, wanted(os, f.bare)) || err != nil && !errors.Is(err, errStore) {
				t.Errorf("%s: call %d failed, but: %v, %v", f.name, n, rows, err)
			}
		}
	}
}

// An error of emit ends the scan and comes out as it is.
func TestEmitErrors(t *testing.T) {
	os := []object{{"t/a", 1, 1e12}, {"t/b", 2, 1e12}}
	for _, f := range testForms {
		s := newShelf()
		src, err := Open(t.Context(), Options{Source: f.put(s, os), Columns: f.columns, Stores: s, Now: now})
		if err != nil {
			t.Fatal(f.name, err)
		}
		if _, err := src.Rows(t.Context(), func([]Row) error { return errStore }); !errors.Is(err, errStore) || lake.KindOf(err) == lake.Damaged {
			t.Errorf("%s: %v", f.name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := src.Rows(ctx, func([]Row) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", f.name, err)
		}
	}
}
