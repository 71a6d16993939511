package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
)

// A blob never dies in a table's folder, of whatever format and however far
// above it: it is spared, says why, and leaves the queue; others beside it die.
func TestABlobInAnotherTableStays(t *testing.T) {
	for name, mark := range map[string]string{
		"Delta":               "blobs/db/t/_delta_log/00000000000000000000.json",
		"Hudi":                "blobs/db/t/.hoodie/hoodie.properties",
		"Iceberg":             "blobs/db/t/metadata/v1.metadata.json",
		"a table above":       "blobs/db/_delta_log/00000000000000000000.json",
		"the blob's folder":   "blobs/db/t/data/.hoodie/hoodie.properties",
		"a log being created": "blobs/db/t/_delta_log/.tmp",
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("db/t/data/X", "db2/X", "Y")
			w.put(mark, "{}")
			w.pass(72)
			w.commit(map[string][]string{"1a": {"db/t/data/X", "db2/X"}})
			w.commit(map[string][]string{"1a": {"Y"}})
			w.commit(map[string][]string{"1a": {"Y"}})
			if r := w.mustClean(); r.Queued != 2 {
				t.Fatalf("%+v", r)
			}
			w.pass(30)
			p, err := w.engine().Plan(t.Context(), w.request(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close() //nolint:errcheck // a temporary file
			var told []string
			r, err := w.engine().Apply(t.Context(), p, ApplyRequest{}, func(o Outcome) {
				if o.Outcome == filelist.Spared && o.Err != nil && strings.Contains(o.Err.Error(), "blobs/db") {
					told = append(told, strings.TrimPrefix(o.URI, "s3://media/"))
				}
			})
			w.date()
			if err != nil || r.Spared != 1 || r.Deleted != 1 || !slices.Equal(told, []string{"db/t/data/X"}) {
				t.Errorf("%+v, %v, told of %q", r, err, told)
			}
			if !w.there("db/t/data/X") || w.there("db2/X") || w.queued() != "" {
				t.Errorf("left %q, queued %q", w.blobs(), w.queued())
			}
		})
	}
}

// Nothing dies below a --blob-root that is a table's folder or lies in one: the
// run is refused before anything is queued or cleaned.
func TestARootInATableIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ root, mark string }{
		"at one":            {"", "blobs/_delta_log/00000000000000000000.json"},
		"at an Iceberg one": {"", "blobs/metadata/v3.metadata.json"},
		"in one":            {"a/b", "blobs/.hoodie/hoodie.properties"},
	} {
		t.Run(name, func(t *testing.T) {
			w := expired(t)
			w.upload("a/b/W")
			req := w.request()
			req.Hudi.Blobs.Roots[0].Path = c.root
			p, err := w.engine().Plan(t.Context(), req, "")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close() //nolint:errcheck // a temporary file
			w.put(c.mark, "{}")
			before := w.files("table/p=1/*.parquet")
			_, err = w.engine().Apply(t.Context(), p, ApplyRequest{}, nil)
			if lake.KindOf(err) != lake.Refused || !strings.Contains(err.Error(), "the folder of a table") || lake.HintOf(err) == "" {
				t.Errorf("%v", err)
			}
			if !slices.Equal(before, w.files("table/p=1/*.parquet")) || w.queued() != "" || len(w.files("blobs/"+lake.ClaimName)) > 0 {
				t.Errorf("queued %q, claims %q", w.queued(), w.files("blobs/"+lake.ClaimName))
			}
		})
	}
}
