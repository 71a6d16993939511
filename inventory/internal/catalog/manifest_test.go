package catalog

import (
	"testing"

	"github.com/lakesweep/lakesweep/inventory/internal/part"
	"github.com/lakesweep/lakesweep/lake"
)

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
		l := &List{Kind: kind}
		err = l.report(&m, &part.Part{Place: "manifest"})
		if err != nil && lake.HintOf(err) == "" {
			t.Fatalf("no hint: %v", err)
		}
		for _, d := range l.Parts {
			if err == nil && d.Name == "" {
				t.Fatalf("a file without a name in %+v", m)
			}
		}
	})
}
