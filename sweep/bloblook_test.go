package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// Explain names files, records and instants, under any spelling.
func TestExplainBlob(t *testing.T) {
	w := newPlannedWorld(t, "MERGE_ON_READ")
	first := w.Commit(g{"p=1/a": m("x"), "p=2/b": {{Key: "row 7", Path: "s3a://media//x", Column: "st.b"}}})
	at := w.Begin(timeline.DeltaCommit)
	log := w.Log(at, "p=1", "a", m("y")...)
	req := PlanRequest{Table: blobTable}
	got, err := w.engine().Explain(t.Context(), req, []string{"s3://media/x", "s3://media/y", "s3://media/z", "p=1/a-0_0-1-2_" + first + ".parquet"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, x := range got {
		line := x.Verdict
		for _, b := range x.Because {
			line += "|" + b.Instant + " " + b.Action + " " + b.Rule
		}
		lines = append(lines, line)
	}
	want := []string{
		"live|" + first + " reference p=1/a-0_0-1-2_" + first + `.parquet refers to it in img, record "k-s3://media/x"|` +
			first + " reference p=2/b-0_0-1-2_" + first + `.parquet refers to it in st.b, record "row 7", unmanaged, spelled "s3a://media//x"`,
		"young|" + at + " inflight " + log + ` refers to it in img, record "k-s3://media/y"`,
		"dead| unreferenced ",
		"live|",
	}
	for i := range want {
		if i < 2 && lines[i] != want[i] || !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("got  %s\nwant %s", lines[i], want[i])
		}
	}
}

// Verify names references to blobs that are missing and objects that nothing
// refers to (H9), and calls nothing unreferenced while a file can't be read.
func TestVerifyBlobs(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	media := mem.New(mem.Options{})
	for _, name := range []string{"there", "alias", "left behind", ".lakesweep-claim.json", "db/t/_delta_log/0.json", "db/t/x/theirs", "ice/metadata/v1.metadata.json", "ice/data/theirs"} {
		media.Put(name, []byte("blob"), time.Time{})
	}
	w.Commit(g{"p=1/a": append(m("there", "gone"), M("s3a://media//alias"), M("s3://elsewhere/x"))})
	e := w.engine()
	e.Stores = store.Registry{Classes: map[string]store.OpenFunc{"mem": func(_ context.Context, root lake.Root) (store.Store, error) {
		switch root.String() {
		case blobTable:
			return w.store, nil
		case "mem://media/m":
			return media, nil
		}
		return mem.New(mem.Options{}), nil
	}}}
	verify := func() (out []string) {
		req := PlanRequest{Table: blobTable, Inventory: InventoryRequest{Maps: []Map{{"s3://media", "mem://media/m"}}},
			Hudi: HudiRequest{Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}}}
		for f, err := range e.Verify(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(f.Type, " ", f.Path))
		}
		slices.Sort(out)
		return out
	}
	if got, want := verify(), []string{"missing s3://media/gone", "unreferenced mem://media/m/left behind"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	at := w.Commit(g{"p=1/b": nil})
	w.Put("p=1/b-0_0-1-2_"+at+".parquet", []byte("torn"), w.Now)
	if got := verify(); !slices.Contains(got, "unreadable p=1/b-0_0-1-2_"+at+".parquet") || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "unreferenced") }) {
		t.Errorf("%q", got)
	}
}

// Doctor tells of Hudi's own cleans where a table refers to blobs.
func TestDoctorOfBlobs(t *testing.T) {
	for schema, want := range map[string]bool{Schema: true, strings.ReplaceAll(Schema, `"logicalType":"blob",`, ""): false} {
		w := newPlannedWorld(t, "COPY_ON_WRITE")
		w.Schema = schema
		w.Commit(g{"p=1/a": m("x")})
		d, err := w.engine().Doctor(t.Context(), PlanRequest{Table: blobTable})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, c := range d.Checks {
			told = told || c.Code == "blobs" && strings.Contains(c.Fix, "hoodie.clean.automatic=false")
		}
		if told != want {
			t.Errorf("told: %t, want %t: %+v", told, want, d.Checks)
		}
	}
}
