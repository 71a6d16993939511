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
	"github.com/lakesweep/lakesweep/table/delta/deltatest"
)

// sparkMore is items 28 to 49: Spark's suites for deletion vectors, change
// data, the log and LITE.
func sparkMore() []scenario {
	return []scenario{
		{"28", "persistent deletion vectors stay while live or in the retention", vectors("")},
		{"29", "the same in partitions", vectors("p=1/")},
		{"30 P2", "a missing path and a plain folder of Parquet", func(t *testing.T, w *world) {
			w.file("x.parquet", old)
			w.fails(w.request(0, "full"), lake.NotTable)
			w.given = w.dir + "/missing"
			w.fails(w.request(0, "full"), lake.NotTable)
			w.given = "file://" + w.dir
			w.fails(w.request(0, "full"), lake.NotTable)
		}},
		{"31 32", "change data stays as long as its commit", func(t *testing.T, w *world) {
			w.Configure("delta.enableChangeDataFeed", "true")
			w.live("file1", 90*hour)
			w.file("_change_data/cdc-1", 50*hour)
			w.file("_change_data/cdc-2", 90*hour) // older than its commit
			w.file("file2", 50*hour)
			w.commit(50*hour, deltatest.NewRemove("file1", w.ago(50*hour)), deltatest.NewAdd("file2", 9),
				deltatest.NewCDC("_change_data/cdc-1", 9), deltatest.NewCDC("_change_data/cdc-2", 9))
			w.wants(w.request(100*hour, "full"))
			w.wants(w.request(100*hour, "lite"))
			w.vacuum(w.request(0, "full"))
			w.has("file2", "!file1", "!_change_data/cdc-1", "!_change_data/cdc-2")
		}},
		{"33 34 35 36 P3", "START and END are commits, a plan makes none", func(t *testing.T, w *world) {
			w.live("file1", 10*hour)
			w.live("file2", 10*hour)
			w.removed("file1", 10*hour)
			commits := func(want int) string {
				t.Helper()
				names, err := filepath.Glob(filepath.Join(w.dir, "_delta_log", "*.json"))
				if err != nil || len(names) != want {
					t.Errorf("%d commits, want %d (%v)", len(names), want, err)
				}
				text, err := os.ReadFile(names[len(names)-1])
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			p := w.plan(w.request(20*hour, "full"))
			commits(3)
			for _, when := range []string{"auto", "on"} { // that there is nothing to do is told only on demand
				if _, err := w.apply(p, ApplyRequest{CommitLog: when}); err != nil {
					t.Fatal(err)
				}
				if when == "auto" {
					commits(3)
				}
			}
			if end := commits(5); !strings.Contains(end, `"VACUUM END"`) || !strings.Contains(end, `"numDeletedFiles":"0"`) {
				t.Error(end)
			}
			p = w.plan(w.request(0, "full"))
			if _, err := w.apply(p, ApplyRequest{CommitLog: "off"}); err != nil {
				t.Fatal(err)
			}
			commits(5)
			w.file("x", 10*hour)
			w.vacuum(w.request(0, "full"))
			if end := commits(7); !strings.Contains(end, `"numDeletedFiles":"1"`) || !strings.Contains(end, `"COMPLETED"`) {
				t.Error(end)
			}
			start, err := os.ReadFile(filepath.Join(w.dir, deltatest.Name(5)))
			if err != nil || !strings.Contains(string(start), `"numFilesToDelete":"1"`) || !strings.Contains(string(start), `"sizeOfDataToDelete":"9"`) {
				t.Errorf("%s %v", start, err)
			}
			w.file("y", 10*hour)
			p, killed := w.plan(w.request(0, "full")), ApplyRequest{Journal: filepath.Join(t.TempDir(), "journal")}
			for range 2 { // killed before its END, and then not
				if _, err := w.apply(p, killed); err != nil {
					t.Fatal(err)
				}
				if end := commits(9); !strings.Contains(end, `"VACUUM END"`) || !strings.Contains(end, `"numDeletedFiles":"1"`) {
					t.Error(end)
				}
				if err := os.Remove(filepath.Join(w.dir, deltatest.Name(8))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.apply(p, killed); err != nil {
				t.Fatal(err)
			}
			if _, err := w.apply(p, killed); err != nil {
				t.Fatal(err)
			}
			commits(9)
		}},
		{"37 P6 P7 R1", "LITE takes what the log removed, FULL the rest", func(t *testing.T, w *world) {
			w.Features([]string{"deletionVectors"}, nil)
			dv, file := deltatest.UUIDVector("", 7, 1)
			w.file(file, 20*24*hour)
			for i := range 5 {
				w.live(fmt.Sprint("p=", i, "/f"), old)
			}
			w.commit(20*24*hour, deltatest.NewRemove("p=0/f", w.ago(20*24*hour)), deltatest.NewAdd("p=0/f", 9).WithDV(dv))
			w.commit(10*24*hour, deltatest.NewRemove("p=0/f", w.ago(10*24*hour)).WithDV(dv),
				deltatest.NewRemove("p=1/f", w.ago(10*24*hour)), deltatest.NewRemove("p=2/f", w.ago(10*24*hour)), deltatest.NewRemove("p=3/f", w.ago(10*24*hour)))
			w.file("p=4/untracked", old)
			gone := []string{"p=0/f", "p=1/f", "p=2/f", "p=3/f", file}
			p := w.wants(w.request(week, "lite"), gone...)
			if n := p.Head().Totals.ListRequests; n != 0 {
				t.Errorf("%d requests to list", n)
			}
			w.has(gone...)
			w.vacuum(w.request(week, "lite"))
			w.wants(w.request(week, "full"), "p=4/untracked")
			w.vacuum(w.request(week, "full"))
			w.has("p=4/f", "!p=4/untracked")
		}},
		{"39 40 41 B034", "LITE without the beginning of the log, and again", func(t *testing.T, w *world) {
			for i := range 4 {
				w.live(fmt.Sprint("f", i), old)
			}
			w.removed("f0", 20*24*hour)
			w.Checkpoint(4, w.ago(19*24*hour), deltatest.Checkpoint{Keep: w.ago(old)})
			w.removed("f1", 10*24*hour)
			w.drop(0)
			w.fails(w.request(week, "lite"), lake.Refused)
			w.vacuum(w.request(week, "full"))
			w.has("!f0", "!f1", "f2")
			w.wants(w.request(week, "lite")) // FULL lifts the refusal
			w.vacuum(w.request(week, "lite"))
			w.removed("f2", 9*24*hour)
			w.vacuum(w.request(week, "lite"))
			w.has("!f2", "f3")
			w.wants(w.request(week, "lite"))
		}},
		{"42", "RETAIN counts both ways (Spark: only RETAIN 0 does)", func(t *testing.T, w *world) {
			w.live("f0", old)
			w.live("f1", old)
			w.removed("f0", 10*24*hour)
			w.removed("f1", 24*hour+time.Second)
			w.wants(w.request(24*hour, "lite"), "f0", "f1")
			w.wants(w.request(week, "lite"), "f0")
			w.wants(w.request(11*24*hour, "lite"))
			w.wants(w.request(11*24*hour, "full"))
		}},
		{"44 B054", "what nobody knows in the log", func(t *testing.T, w *world) {
			w.live("f0", old)
			w.commit(old, deltatest.Action{Raw: `{"somethingNew":{"path":"f0","x":[1,{"y":2}]}}`},
				deltatest.Action{Raw: `{"add":{"path":"f1","partitionValues":{},"size":9,"modificationTime":0,"dataChange":true,"later":{"a":[]}}}`})
			for _, n := range []string{"README.txt", "00000000000000000007.json.tmp", ".DS_Store", "00000000000000000007 (1).json", "x/y.json"} {
				w.file("_delta_log/"+n, old)
			}
			w.file("f1", old)
			w.file("f2", old)
			w.wants(w.request(0, "full"), "f2")
		}},
		{"46", "tombstones of deletion vectors keep them for engines that are blind to them", func(t *testing.T, w *world) {
			_, file := deltatest.UUIDVector("", 3, -1)
			w.live("f0", old)
			w.file(file, old)
			w.commit(hour, deltatest.NewRemove(file, w.ago(hour)))
			w.wants(w.request(week, "full"))
			w.wants(w.request(0, "full"), file)
		}},
		{"49", "a version that needs what is gone", func(t *testing.T, w *world) {
			w.live("f0", old)
			w.live("f1", old)
			w.live("f2", old)
			w.removed("f0", 20*24*hour)
			w.vacuum(w.request(week, "full"))
			w.commit(0, deltatest.NewAdd("f0", 9)) // restored by name only
			w.file("x", old)
			w.fails(w.request(week, "full"), lake.Refused, "live_missing", "f0")
			w.has("x")
			var missing []string
			for f, err := range w.e.Verify(t.Context(), w.request(week, "")) {
				if err != nil {
					if lake.KindOf(err) != lake.Refused {
						t.Error(err)
					}
					continue
				}
				missing = append(missing, f.Type+" "+f.Path)
			}
			if !slices.Contains(missing, "missing f0") {
				t.Errorf("verify finds %q", missing)
			}
		}},
	}
}

// drop takes a commit out of the log.
func (w *world) drop(v int64) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, filepath.FromSlash(deltatest.Name(v)))); err != nil {
		w.t.Fatal(err)
	}
}

// vectors is items 28 and 29: ten vectors, of which five are replaced.
func vectors(prefix string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		if prefix != "" {
			w.Partition("p")
		}
		w.Features([]string{"deletionVectors"}, nil)
		var first, second []deltatest.Action
		var names, replaced, later []string
		for i := range 10 {
			n := fmt.Sprint(prefix, "f", i)
			w.file(n, 30*hour)
			dv, file := deltatest.UUIDVector("", uint64(i), -1)
			w.file(file, 30*hour)
			first = append(first, deltatest.NewAdd(n, 9).WithDV(dv))
			names = append(names, n, file)
			if i < 5 {
				re, reFile := deltatest.UUIDVector("", uint64(100+i), -1)
				later = append(later, reFile)
				second = append(second, deltatest.NewRemove(n, w.ago(5*hour)).WithDV(dv), deltatest.NewAdd(n, 9).WithDV(re))
				names, replaced = append(names, reFile), append(replaced, file)
			}
		}
		w.commit(30*hour, first...)
		w.wants(w.request(0, "full"))
		for _, n := range later {
			w.file(n, 5*hour)
		}
		w.commit(5*hour, second...)
		w.wants(w.request(10*hour, "full"))
		w.wants(w.request(0, "full"), replaced...)
		w.vacuum(w.request(0, "full"))
		for _, n := range names {
			if !slices.Contains(replaced, n) {
				w.has(n)
			} else {
				w.has("!" + n)
			}
		}
	}
}
