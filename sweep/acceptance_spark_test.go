package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

const old = 30 * 24 * hour

// spark is items 1 to 27: Spark's own suite.
func spark() []scenario {
	return []scenario{
		{"1", "the uncommitted file goes, the committed one when it was removed", func(t *testing.T, w *world) {
			w.live("file1", 10*24*hour)
			w.file("file2", 10*24*hour)
			w.wants(w.request(week, "lite"))
			w.wants(w.request(week, "full"), "file2")
			w.vacuum(w.request(week, "full"))
			w.has("file1", "!file2")
			w.removed("file1", hour)
			w.wants(w.request(week, "full"))
			w.vacuum(w.request(0, "full"))
			w.has("!file1")
		}},
		{"7 B025", "no version, no table, nothing deleted", func(t *testing.T, w *world) {
			w.file("file1", old)
			w.fails(w.request(0, "full"), lake.NotTable)
			w.folder("_delta_log", old)
			if _, err := w.e.Plan(t.Context(), w.request(0, "full"), ""); lake.KindOf(err) != lake.NotTable && lake.KindOf(err) != lake.Damaged {
				t.Errorf("an empty log: %v", err)
			}
			w.has("file1")
		}},
		{"8 R10 R27", "hidden names stay, at any depth", func(t *testing.T, w *world) {
			w.live("file1", old)
			names := []string{"_hidden_dir/x", ".hidden.txt", "a/_temporary/0/x", "a/.x", "a/b/_y", ".dir/x"}
			for _, n := range names {
				w.file(n, old)
			}
			w.wants(w.request(0, "full"))
		}},
		{"9 R26 B043", "a partition column that begins with an underscore is data", func(t *testing.T, w *world) {
			w.Partition("_underscore_col_")
			w.live("_underscore_col_=10/test.txt", old)
			w.live("_underscore_col_=11/test.txt", old)
			w.removed("_underscore_col_=10/test.txt", 8*24*hour)
			w.file("_underscore_col_=10/orphan", old)
			w.file("_tmp/x", old)
			w.file("_underscore_col/x", old)
			w.vacuum(w.request(week, "full"))
			w.has("!_underscore_col_=10/test.txt", "!_underscore_col_=10/orphan", "_underscore_col_=11/test.txt", "_tmp/x", "_underscore_col/x")
		}},
		{"10", "an inventory without the columns", func(t *testing.T, w *world) {
			w.live("file1", old)
			req := w.request(0, "full")
			req.Inventory.Source = inventoryFile(t, "what,bytes,isDir,when\n"+w.dir+"/file1,9,false,0\n")
			w.fails(req, lake.Invalid, "path")
		}},
		{"11", "an inventory with the root twice and a path outside", func(t *testing.T, w *world) {
			w.live("file1", old)
			w.live("removed", old)
			w.removed("removed", 10*24*hour)
			w.file("file2", old)
			w.file("a b/file3", old)
			outside := filepath.Join(filepath.Dir(w.dir), "outside")
			if err := os.WriteFile(outside, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			rows := "path,length,isDir,modificationTime\n"
			for _, n := range []string{w.dir, w.dir, outside} {
				rows += `"` + n + `",0,true,0` + "\n"
			}
			for _, n := range []string{"file1", "removed", "file2", "a b/file3"} {
				rows += `"` + w.dir + "/" + n + `",300000,false,0` + "\n"
			}
			req := w.request(week, "full")
			req.Inventory.Source = inventoryFile(t, rows)
			w.wants(req, "removed", "file2", "a b/file3")
			w.vacuum(req)
			w.has("file1", "!removed", "!file2", "!a b/file3")
			if _, err := os.Stat(outside); err != nil {
				t.Error(err)
			}
		}},
		{"14 15", "a nested folder goes after its file, the root never", func(t *testing.T, w *world) {
			w.now = time.Now().Add(time.Minute)
			w.live("file1", old)
			w.file("abc/def/file2", old)
			w.vacuum(w.request(0, "full"))
			w.has("!abc/def/file2", "file1")
			for range 3 {
				w.now = w.now.Add(hour)
				w.vacuum(w.request(0, "full"))
			}
			w.has("!abc", "file1", "_delta_log")
			w.removed("file1", 0)
			w.now = w.now.Add(hour)
			w.vacuum(w.request(0, "full"))
			w.vacuum(w.request(0, "full"))
			w.has("!file1", "_delta_log")
		}},
		{"16", "what is live or young stays; times count to the millisecond", correctness},
		{"17", "many workers", func(t *testing.T, w *world) {
			for i := range 10 {
				w.live(fmt.Sprint("file", i), old)
			}
			w.removed("file3", 8*24*hour)
			p := w.wants(w.request(week, "full"), "file3")
			for range 2 {
				if _, err := w.apply(p, ApplyRequest{Tuning: Tuning{Workers: 16}}); err != nil {
					t.Fatal(err)
				}
			}
			w.has("!file3", "file2", "file4")
		}},
		{"18", "a negative retention", func(t *testing.T, w *world) {
			w.live("file1", old)
			w.fails(w.request(-2*hour, "full"), lake.Invalid, "negative")
		}},
		{"19 B048", "an empty folder goes by its own time (Spark: at once), a full one stays", func(t *testing.T, w *world) {
			w.live("abc/def/file1", old)
			w.folder("old", old)
			w.folder("ghi", hour)
			w.wants(w.request(week, "full"), "old/")
			w.vacuum(w.request(week, "full"))
			w.has("!old", "ghi", "abc/def/file1")
			w.wants(w.request(week, "lite"))
		}},
		{"20", "names are shown as they are", func(t *testing.T, w *world) {
			w.file("abc def/#1/file1.txt", old)
			w.file("abc def/#1/file2.txt", old)
			w.commit(old, deltatest.NewAdd("abc%20def/%231/file1.txt", 9))
			w.wants(w.request(0, "full"), "abc def/#1/file2.txt")
		}},
		{"21 23 R6 P1 B035", "a retention below the table's own is refused with both figures", func(t *testing.T, w *world) {
			w.Features([]string{"deletionVectors"}, nil)
			w.live("file1", old)
			w.file("x", old)
			for _, retain := range []time.Duration{0, hour, 167 * hour, week - 1} {
				req := w.request(retain, "full")
				req.Unsafe.RetainBelow = ""
				w.fails(req, lake.Refused, "168")
			}
			w.has("x")
			req := w.request(week, "full")
			req.Unsafe.RetainBelow = ""
			w.wants(req, "x")
			w.wants(w.request(0, "full"), "x")
		}},
		{"22", "a partition of a table is no table", func(t *testing.T, w *world) {
			w.live("v2=a/file1", old)
			w.file("v2=a/file2", old)
			w.given = w.dir + "/v2=a"
			w.fails(w.request(0, "full"), lake.NotTable)
			w.has("v2=a/file2")
		}},
		{"24", "after a purge of deletion vectors", func(t *testing.T, w *world) {
			w.Features([]string{"deletionVectors"}, nil)
			dv, file := deltatest.UUIDVector("", 1, 1)
			w.file(file, 3*hour)
			var adds, purged []deltatest.Action
			for i := range 5 {
				n := fmt.Sprint("f", i)
				w.file(n, 4*hour)
				adds = append(adds, deltatest.NewAdd(n, 9))
			}
			w.commit(4*hour, adds...)
			for i := range 4 {
				n, re := fmt.Sprint("f", i), fmt.Sprint("new", i)
				w.commit(3*hour, deltatest.NewRemove(n, w.ago(3*hour)), deltatest.NewAdd(n, 9).WithDV(dv))
				w.file(re, 2*hour)
				purged = append(purged, deltatest.NewRemove(n, w.ago(2*hour)).WithDV(dv), deltatest.NewAdd(re, 9))
			}
			w.commit(2*hour, purged...)
			w.wants(w.request(0, "full"), "f0", "f1", "f2", "f3", file)
			w.wants(w.request(150*time.Minute, "full"))
		}},
		{"25", "metadata of an engine that no property names goes when it is old", func(t *testing.T, w *world) {
			w.live("file1", old)
			w.file("metadata/file1.json", old)
			w.vacuum(w.request(week, "full"))
			w.has("!metadata/file1.json")
		}},
		{"26", ".hoodie stays", func(t *testing.T, w *world) {
			w.live("file1", old)
			w.file(".hoodie/hoodie.properties", old)
			w.wants(w.request(0, "full"))
		}},
		{"27 B027 B042", "deletion vectors live as long as the versions that need them", vectorLife},
	}
}

// correctness is item 16, step by step.
func correctness(t *testing.T, w *world) {
	w.live("file1", 0)
	w.file("file2", 0)
	start := w.now
	w.now = start.Add(week - time.Second)
	w.wants(w.request(week, "full"))
	w.now = start.Add(week)
	w.wants(w.request(week, "full")) // as old as the cutoff is not older
	w.now = start.Add(week + 2*time.Second)
	w.wants(w.request(week, "full"), "file2")
	w.has("file2") // a plan deletes nothing
	w.vacuum(w.request(week, "full"))
	w.has("!file2", "file1")

	w.file("p/file3", 0)
	outside := filepath.Join(filepath.Dir(w.dir), "outside.parquet")
	if err := deltatest.Dir(filepath.Dir(w.dir)).Put("outside.parquet", nil, w.ago(old)); err != nil {
		t.Fatal(err)
	}
	w.commit(0, deltatest.NewAdd("p/file3", 9), deltatest.NewAdd("file:"+outside, 9))
	w.now = w.now.Add(hour)
	w.removed("p/file3", 0)
	w.removed("file:"+outside, 0)
	removed := w.now
	w.now = removed.Add(week)
	w.wants(w.request(week, "full"))
	w.now = removed.Add(week + time.Second)
	w.wants(w.request(week, "full"), "p/file3")
	w.vacuum(w.request(week, "full"))
	w.has("file1", "!p/file3")
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// vectorLife is item 27: four versions an hour apart, one hour of retention.
func vectorLife(t *testing.T, w *world) {
	w.Features([]string{"deletionVectors"}, nil)
	w.Configure("delta.deletedFileRetentionDuration", "interval 1 hour")
	dv1, file1 := deltatest.UUIDVector("", 1, 1)
	dv2, file2 := deltatest.UUIDVector("ab", 2, -1)
	start := w.now
	w.live("f", 0)
	w.now = start.Add(2 * hour)
	w.file(file1, 0)
	w.commit(0, deltatest.NewAdd("f", 9).WithDV(dv1), deltatest.NewRemove("f", w.now))
	w.now = start.Add(4 * hour)
	w.file(file2, 0)
	w.commit(0, deltatest.NewRemove("f", w.now).WithDV(dv1), deltatest.NewAdd("f", 9).WithDV(dv2))
	w.wants(w.request(hour, "full"))
	w.now = start.Add(5*hour + time.Second)
	w.wants(w.request(hour, "full"), file1)
	w.wants(w.request(hour, "lite"), file1)
	w.now = start.Add(6 * hour)
	w.commit(0, deltatest.NewRemove("f", w.now).WithDV(dv2), deltatest.NewAdd("f", 9)) // restored
	w.vacuum(w.request(hour, "full"))
	w.has("f", "!"+file1, file2)
	w.now = start.Add(7*hour + time.Second)
	w.vacuum(w.request(hour, "full"))
	w.has("f", "!"+file2)
}

// inventoryFile writes a CSV.
func inventoryFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "inventory.csv")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
