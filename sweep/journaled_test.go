package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
)

// A journal that was named must be there; one in the state directory that
// can't be read is told of, and what it knew is looked at.
func TestJournalsBesideAnInventory(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	w.file("orphan", old)
	req := w.request(week, "full")
	req.Inventory = InventoryRequest{Source: inventoryFile(t, fmt.Sprintf("path,size,modified\n%[1]s/live,9,%[2]s\n%[1]s/orphan,9,%[2]s\n", w.dir, w.ago(old).Format(time.RFC3339))), Taken: w.now}
	req.Inventory.Journals = []string{filepath.Join(t.TempDir(), "absent.journal")}
	w.fails(req, lake.Invalid, "absent.journal", "no journal")
	req.Inventory.Journals = nil
	w.e.StateDir = filepath.Join(t.TempDir(), "[state") // no pattern
	if err := os.Mkdir(w.e.StateDir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.e.StateDir, "x.journal"), []byte("no journal\n"))
	h := w.wants(req, "orphan").Head()
	if !slices.ContainsFunc(h.Evidence.Warnings, func(s string) bool { return strings.Contains(s, "x.journal") }) {
		t.Errorf("not told of: %q", h.Evidence.Warnings)
	}
}

// What a journal table of S3 Metadata says was deleted costs no request.
func TestWhatAJournalTableDeletedCostsNoRequest(t *testing.T) {
	w := newWorld(t)
	w.live("live", old)
	w.file("orphan", old)
	w.file("again", old)
	rows := "bucket,key,sequence_number,record_type,version_id,size,last_modified_date\n"
	at := w.ago(old).Format(time.RFC3339)
	for i, r := range []string{"live CREATE", "gone CREATE", "orphan CREATE", "again CREATE", "gone DELETE", "again DELETE", "again CREATE"} {
		name, kind, _ := strings.Cut(r, " ")
		rows += fmt.Sprintf("lake,t/%s,%04d,%s,,9,%s\n", name, i, kind, at)
	}
	req := w.request(week, "full")
	req.Inventory = InventoryRequest{Source: inventoryFile(t, rows), Taken: w.now, Maps: []Map{{From: "s3://lake/t", To: w.dir}}}
	listed := &listings{seen: map[string]bool{}}
	w.wrap = listed.wrap
	p := w.wants(req, "again", "orphan")
	w.now = w.now.Add(hour) // an old plan is looked at
	if r, err := w.apply(p, ApplyRequest{}); err != nil || r.Deleted != 2 || r.Gone != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := listed.stats(); slices.Contains(got, "gone") || !slices.Contains(got, "orphan") {
		t.Errorf("looked at %q", got)
	}
	w.has("live", "!orphan", "!again")
}
