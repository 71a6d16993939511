package inventory

import (
	"testing"

	"github.com/lakesweep/lakesweep/lake"
)

// Whatever bytes a list holds, reading it ends, with rows or with an error that
// has a hint.
func FuzzList(f *testing.F) {
	os := []object{{"t/a b", 1, 1577836800000}, {"t/c", 2, 1577836800000}}
	names := []string{"l.csv", "l.txt", "l.jsonl", "l.parquet", "l", "manifest.json", "x.json"}
	for _, form := range testForms {
		s := newShelf()
		form.put(s, os)
		for _, name := range s.Names() {
			data, err := (&part{r: s, name: name, size: -1}).all(f.Context(), 1<<20)
			if err != nil {
				f.Fatal(err)
			}
			for i := range names {
				f.Add(data, uint8(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name uint8) {
		s := newShelf()
		s.Put("a.csv", []byte("bucket,name\nb,t/x\n"), written) // what a manifest may name
		s.Put(names[int(name)%len(names)], data, written)
		_, _, err := s.read(t.Context(), Options{Source: "mem://shelf/" + names[int(name)%len(names)]}, "s3")
		if err != nil && lake.HintOf(err) == "" {
			t.Fatalf("no hint: %v", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	for _, s := range []string{
		`{"sourceBucket":"b","fileFormat":"CSV","fileSchema":"Bucket, Key","creationTimestamp":"1577836800000","files":[{"key":"a","size":1,"MD5checksum":"x"}]}`,
		`{"report_config":{"csv_options":{"delimiter":",","header_required":true}},"records_processed":1,"report_shards_file_names":["a"]}`,
		`{"reportConfig":{"parquetOptions":{}},"recordsProcessed":"1","reportNames":["gs://b/a"],"targetDatetime":{"year":2024}}`,
		`{"destinationContainer":"c","files":[{"blob":"a","size":1}],"ruleDefinition":{"format":"csv"},"status":"Succeeded","summary":{"objectCount":1}}`, `{`, `[]`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, kind, err := parseManifest(data)
		if err != nil || kind == "" {
			return
		}
		s := &Source{}
		p := &part{place: "manifest"}
		switch kind {
		case "s3-inventory":
			err = s.s3(&m, p)
		case "azure-inventory":
			err = s.azure(&m, p)
		default:
			err = s.gcs(&m, p)
		}
		if err != nil && lake.HintOf(err) == "" {
			t.Fatalf("no hint: %v", err)
		}
		for _, d := range s.parts {
			if err == nil && d.name == "" {
				t.Fatalf("a file without a name in %+v", m)
			}
		}
	})
}
