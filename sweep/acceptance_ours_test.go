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

// peers is the suites of delta-rs and its Python face.
func peers() []scenario {
	return []scenario{
		{"R2 R3 R4 R5 P4 P5", "kept versions stay readable, in whatever order they are named", func(t *testing.T, w *world) {
			w.live("f0", old)
			w.live("f1", old)
			w.removed("f0", 20*24*hour)
			w.live("f2", 19*24*hour)
			w.removed("f1", 15*24*hour)
			req := w.request(0, "full")
			w.wants(req, "f0", "f1")
			for _, keep := range [][]int64{{3, 2}, {2, 3}} {
				req.KeepVersions = keep
				w.wants(req, "f0")
			}
			req.KeepVersions = []int64{1}
			w.wants(req)
			req.KeepVersions = []int64{2, 3}
			w.vacuum(req)
			w.has("!f0", "f1", "f2")
			w.Checkpoint(4, w.now, deltatest.Checkpoint{})
			w.wants(w.request(0, "full"), "f1")
		}},
		{"R7 R8 R11 R16 B030 B031", "the table of decisions", func(t *testing.T, w *world) {
			w.live("live", 60*24*hour)
			w.live("recent-tombstone", 60*24*hour)
			w.live("expired-tombstone", 60*24*hour)
			w.live("kept-version", 60*24*hour)
			w.file("stale-orphan", 60*24*hour)
			w.file("recent-orphan", hour)
			w.file("_hidden", 60*24*hour)
			w.removed("expired-tombstone", 20*24*hour)
			kept := w.commit(20*24*hour, deltatest.NewAdd("live2", 9))
			w.file("live2", 20*24*hour)
			w.removed("kept-version", 19*24*hour)
			w.removed("recent-tombstone", hour)
			req := w.request(week, "full")
			w.wants(req, "expired-tombstone", "kept-version", "stale-orphan")
			req.KeepVersions = []int64{kept}
			w.vacuum(req)
			w.has("live", "live2", "recent-tombstone", "!expired-tombstone", "kept-version", "!stale-orphan", "recent-orphan", "_hidden")
			w.commit(0, deltatest.NewAdd("recent-orphan", 9)) // the write that was under way
			w.now = w.now.Add(20 * 24 * hour)
			w.wants(w.request(week, "full"), "recent-tombstone", "kept-version")
		}},
		{"R17 R18 R21 R22 R23", "orphans at the root and at every level", func(t *testing.T, w *world) {
			w.Partition("a", "b")
			w.live("a=1/b=2/live", old)
			orphans := []string{"orphan", "a=1/orphan", "a=1/b=2/orphan", "a=1/b=2/c/orphan", "x/orphan"}
			for _, n := range orphans {
				w.file(n, old)
			}
			w.wants(w.request(week, "full"), orphans...)
			w.vacuum(w.request(week, "full"))
			w.has("a=1/b=2/live", "!orphan", "!a=1/orphan", "!a=1/b=2/orphan")
		}},
		{"R19 R20", "a hidden name below a partition is no orphan (delta-rs: it is); young ones stay", func(t *testing.T, w *world) {
			w.Partition("a")
			w.live("a=1/live", old)
			w.file("a=1/_x", old)
			w.file("a=1/young", hour)
			w.wants(w.request(week, "full"))
		}},
		{"R24 R25 P8 B016", "only what was removed goes, after eight days", func(t *testing.T, w *world) {
			w.Partition("a")
			w.live("a=1/f0", 9*24*hour)
			w.live("a=1/f1", 9*24*hour)
			w.removed("a=1/f0", 8*24*hour)
			w.live("a=2/again", 30*24*hour)
			w.removed("a=2/again", 20*24*hour)
			w.commit(10*24*hour, deltatest.NewAdd("a=2/again", 9))
			w.file("compacted", 2*24*hour)
			w.live("old-small", 20*24*hour)
			w.commit(2*24*hour, deltatest.NewRemove("old-small", w.ago(2*24*hour)), deltatest.NewAdd("compacted", 9))
			w.wants(w.request(week, "full"), "a=1/f0")
			w.wants(w.request(week, "lite"), "a=1/f0")
		}},
		{"P9", "right after a checkpoint", func(t *testing.T, w *world) {
			w.live("f0", old)
			w.live("f1", old)
			w.removed("f0", 10*24*hour)
			w.Checkpoint(2, w.now, deltatest.Checkpoint{Keep: w.ago(week)})
			w.wants(w.request(week, "full"), "f0")
			w.vacuum(w.request(week, "full"))
			w.has("f1", "!f0")
		}},
		{"P15 B006", "a partition of NULL", func(t *testing.T, w *world) {
			w.Partition("d")
			w.file("d=__HIVE_DEFAULT_PARTITION__/live", old)
			w.file("d=__HIVE_DEFAULT_PARTITION__/orphan", old)
			w.commit(old, deltatest.NewAdd("d=__HIVE_DEFAULT_PARTITION__/live", 9).WithValues(map[string]*string{"d": nil}))
			w.wants(w.request(0, "full"), "d=__HIVE_DEFAULT_PARTITION__/orphan")
			req := w.request(0, "full")
			req.Where = "d IS NULL"
			w.wants(req, "d=__HIVE_DEFAULT_PARTITION__/orphan")
			req.Where = "d = '1'"
			w.wants(req)
		}},
	}
}

// ours is what the findings of the specification add.
func ours() []scenario {
	return []scenario{
		{"O6 B094", "nested tables, symlinks out, checksum siblings", func(t *testing.T, w *world) {
			w.live("live", old)
			w.file(".live.crc", old)
			w.file("dead", old)
			w.file(".dead.crc", old)
			for _, n := range []string{"in/x/_delta_log/00000000000000000000.json", "in/x/data", "hudi/.hoodie/hoodie.properties", "hudi/data", "ice/metadata/v1.metadata.json", "ice/data/f"} {
				w.file(n, old)
			}
			outside := t.TempDir()
			if err := deltatest.Dir(outside).Put("precious", nil, w.ago(old)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(w.dir, "link")); err != nil {
				t.Skip(err)
			}
			p := w.wants(w.request(0, "full"), "dead")
			if f := p.Head().Evidence.Foreign; len(f) != 3 {
				t.Errorf("foreign tables %q", f)
			}
			w.vacuum(w.request(0, "full"))
			w.has("live", ".live.crc", "!dead", "!.dead.crc", "in/x/data", "hudi/data", "ice/data/f", "link/precious")
		}},
		{"O8 B014", "an inventory proposes, the log and a fresh look decide", func(t *testing.T, w *world) {
			w.live("live", old)
			w.file("a b%41", old)
			w.commit(old, deltatest.NewAdd("a%20b%2541", 9))
			for _, n := range []string{"orphan", "recreated", "gone", "_delta_log/x.json"} {
				w.file(n, old)
			}
			seconds := w.ago(old).Unix() // taken for milliseconds of 1970
			rows := "path,length,isDir,modificationTime\n"
			for _, n := range []string{"live", "a b%41", "a bA", "orphan", "recreated", "gone", "_delta_log/00000000000000000000.json", "_delta_log/x.json", "never"} {
				rows += fmt.Sprintf("\"file://%s/%s\",9,false,%d\n", w.dir, n, seconds)
			}
			w.file("a bA", old)
			rows += "s3://elsewhere/x,9,false,0\n"
			req := w.request(week, "full")
			req.Inventory.Source = inventoryFile(t, rows)
			p := w.plan(req)
			for _, n := range w.dead(p) {
				if n != "orphan" && n != "recreated" && n != "gone" && n != "a bA" && n != "never" {
					t.Errorf("%q is in the plan", n)
				}
			}
			w.file("recreated", 0)
			if err := os.Remove(filepath.Join(w.dir, "gone")); err != nil {
				t.Fatal(err)
			}
			if _, err := w.apply(p, ApplyRequest{}); err != nil {
				t.Errorf("what is gone is no error: %v", err)
			}
			w.has("live", "a b%41", "!a bA", "!orphan", "recreated", "_delta_log/x.json")
		}},
		{"O14", "one partition is no prefix of another", func(t *testing.T, w *world) {
			w.Partition("p")
			w.live("p=1/f", old)
			w.live("p=10/f", old)
			w.file("p=1/x", old)
			w.file("p=10/x", old)
			w.removed("p=1/f", 20*24*hour)
			w.folder("p=1/empty", old)
			w.folder("p=10/empty", old)
			req := w.request(week, "full")
			req.Where = "p = '1'"
			p := w.plan(req)
			for _, n := range w.dead(p) {
				if n[:4] != "p=1/" {
					t.Errorf("%q is in the plan", n)
				}
			}
			if _, err := w.apply(p, ApplyRequest{}); err != nil {
				t.Fatal(err)
			}
			w.has("p=10/f", "p=10/x", "p=10/empty", "!p=1/x")
		}},
	}
}

// reported is what users of other tools met.
func reported() []scenario {
	return []scenario{
		{"B001 B002", "escaped partitions: decoded once, confirmed when gone", func(t *testing.T, w *world) {
			w.Partition("p")
			live := map[string]string{"p=A%2FA/f": "p=A%252FA/f", "p=B B/f": "p=B%20B/f", "p=2024-01-01 10%3A00%3A00/f": "p=2024-01-01%2010%253A00%253A00/f",
				"p=a%7Db/f": "p=a%257Db/f", "p=x<y>/f": "p=x%3Cy%3E/f", "p=t~1/f": "p=t~1/f", "p=é+/f": "p=%C3%A9+/f"}
			var adds []deltatest.Action
			for name, path := range live {
				w.file(name, 40*24*hour)
				adds = append(adds, deltatest.NewAdd(path, 9))
			}
			w.commit(40*24*hour, adds...)
			w.wants(w.request(0, "full"))
			w.file("p=50%25/f1.parquet", 40*24*hour)
			w.commit(35*24*hour, deltatest.NewAdd("p=50%2525/f1.parquet", 9))
			w.commit(30*24*hour, deltatest.NewRemove("p=50%2525/f1.parquet", w.ago(30*24*hour)))
			p := w.wants(w.request(week, "lite"), "p=50%25/f1.parquet")
			r, err := w.apply(p, ApplyRequest{})
			if err != nil || r.Deleted != 1 || r.Gone != 0 {
				t.Errorf("%+v %v", r, err)
			}
			w.has("!p=50%25/f1.parquet")
			if r, err = w.e.Apply(t.Context(), p, ApplyRequest{Journal: filepath.Join(t.TempDir(), "j")}, nil); err != nil || r.Deleted != 0 || r.Gone != 1 {
				t.Errorf("again: %+v %v", r, err)
			}
		}},
		{"B005", "a root with a fragment and an escape in its name", func(t *testing.T, w *world) {
			odd := filepath.Join(filepath.Dir(w.dir), "my dir#1%2Bx")
			if err := os.Rename(w.dir, odd); err != nil {
				t.Fatal(err)
			}
			w.dir = odd
			w.Log = deltatest.New(t, deltatest.Dir(odd))
			w.Features([]string{"deletionVectors"}, nil)
			dv, file := deltatest.UUIDVector("", 1, -1)
			w.file(file, old)
			w.file("f", old)
			w.file("x", old)
			w.commit(old, deltatest.NewAdd("f", 9).WithDV(dv))
			w.wants(w.request(0, "full"), "x")
			w.vacuum(w.request(0, "full"))
			w.has("f", file, "!x")
		}},
		{"B009 B010", "a clone leaves its source alone; a source protects what its clone names", func(t *testing.T, w *world) {
			w.live("f1", 60*24*hour)
			w.live("f2", 60*24*hour)
			clone := newWorld(t)
			clone.now = w.now
			clone.commit(50*24*hour, deltatest.NewAdd("file:"+w.dir+"/f1", 9), deltatest.NewAdd("file:"+w.dir+"/f2", 9))
			clone.file("orphan", old)
			clone.wants(clone.request(0, "full"), "orphan")
			clone.vacuum(clone.request(0, "full"))
			w.has("f1", "f2")
			w.removed("f1", 30*24*hour)
			req := w.request(week, "full")
			w.wants(req, "f1")
			req.Protect = []string{clone.dir}
			w.wants(req)
		}},
		{"B011", "a relative path names the same table", func(t *testing.T, w *world) {
			w.live("f", old)
			w.file("x", old)
			w.e.Getwd = func() (string, error) { return filepath.Dir(w.dir), nil }
			for _, given := range []string{"t", "./t", "t/", "./t//", "../" + filepath.Base(filepath.Dir(w.dir)) + "/t"} {
				w.given = given
				w.wants(w.request(0, "full"), "x")
			}
			w.vacuum(w.request(0, "full"))
			w.has("f", "!x")
		}},
		{"B032", "a retention longer than the property's", func(t *testing.T, w *world) {
			w.live("f", 40*24*hour)
			w.live("g", 40*24*hour)
			w.removed("f", 10*24*hour)
			w.wants(w.request(14*24*hour, "full"))
			w.wants(w.request(week, "full"), "f")
			w.Checkpoint(2, w.ago(hour), deltatest.Checkpoint{Keep: w.ago(week)})
			w.wants(w.request(14*24*hour, "full"))
		}},
		{"B037", "orphans among change data", func(t *testing.T, w *world) {
			for n, age := range map[string]time.Duration{"old": old, "new": 24 * hour, "orphan": old} {
				w.file("_change_data/"+n, age)
			}
			w.live("f", old)
			w.commit(old, deltatest.NewCDC("_change_data/old", 9))
			w.commit(24*hour, deltatest.NewCDC("_change_data/new", 9))
			w.wants(w.request(week, "full"), "_change_data/old", "_change_data/orphan")
		}},
		{"B039", "the earlier of two clocks counts, and a machine that is days ahead is stopped", func(t *testing.T, w *world) {
			w.live("f", old)
			w.file("x", 24*hour)
			ahead := w.now.Add(10 * 24 * hour)
			w.e.Now = func() time.Time { return ahead }
			p := w.wants(w.request(week, "full")) // x is a day old by the store's clock
			if _, err := w.apply(p, ApplyRequest{}); lake.KindOf(err) != lake.Refused {
				t.Errorf("got %v", err)
			}
			w.has("f", "x")
		}},
		{"B051", "random prefixes say nothing of partitions", func(t *testing.T, w *world) {
			w.Partition("p")
			w.file("Ab/part", old)
			w.file("cD/part", old)
			w.file("Ab/zz", old)
			one := map[string]*string{"p": deltatest.Value("1")}
			w.commit(old, deltatest.NewAdd("Ab/part", 9).WithValues(one), deltatest.NewAdd("cD/part", 9).WithValues(one))
			req := w.request(0, "full")
			req.Where = "p = '1'"
			if p := w.wants(req); p.Head().Totals.KeptUnknown != 1 {
				t.Errorf("%+v", p.Head().Totals)
			}
			w.wants(w.request(0, "full"), "Ab/zz")
		}},
		{"B064", "a predicate on data, or without partitions", func(t *testing.T, w *world) {
			w.live("f", old)
			req := w.request(0, "full")
			req.Where = "value = 'x'"
			w.fails(req, lake.Invalid)
			p := newWorld(t)
			p.Partition("d")
			p.live("d=1/f", old)
			req = p.request(0, "full")
			req.Where = "value = 'x'"
			p.fails(req, lake.Invalid, "value")
		}},
		{"B075", "what vanishes between the plan and its delete", func(t *testing.T, w *world) {
			w.live("f", old)
			w.file("x", old)
			w.file("y", old)
			p := w.wants(w.request(0, "full"), "x", "y")
			if err := os.Remove(filepath.Join(w.dir, "x")); err != nil {
				t.Fatal(err)
			}
			r, err := w.apply(p, ApplyRequest{})
			if err != nil || r.Deleted != 1 || r.Gone != 1 {
				t.Errorf("%+v %v", r, err)
			}
		}},
	}
}
