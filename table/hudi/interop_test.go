package hudi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table"
	"github.com/lakesweep/lakesweep/table/hudi/internal/fixture"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
)

// onDisk writes a table to a folder and opens it.
func onDisk(t *testing.T, s *mem.Store) (string, lake.Root, store.Store) {
	t.Helper()
	dir := t.TempDir()
	put := writeTo(t, dir)
	for _, name := range s.Names() {
		i, err := s.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		put(name, contents(t, s, name), i.Modified)
	}
	root, err := lake.ParseRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := local.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return dir, root, disk
}

// Hudi's own readers list exactly the folder after each of our cleans, whether
// we finish it, or leave it requested or inflight for Hudi to finish.
func TestHudiReadsAndFinishesOurCleans(t *testing.T) {
	o := startOracle(t)
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		for policy, p := range c.Expected.Policies {
			if p.Clean == nil {
				continue
			}
			for _, stop := range []string{"never", "requested", "inflight", "half"} {
				if stop != "never" && policy != "commits" {
					continue
				}
				dir, root, disk := onDisk(t, c.Table)
				e, err := prepareAt(t, disk, root, disk, configOf(t, p), p.Now, lock.None{})
				if err != nil {
					t.Fatal(err)
				}
				begun := func() {
					if err := e.run.Begin(t.Context(), table.Intent{}); err != nil {
						t.Fatal(err)
					}
				}
				switch stop {
				case "never":
					err = e.carryOut(t.Context(), disk)
				case "requested":
					begun()
					err = disk.Remove(t.Context(), e.tab.Timeline().Dir+"/"+e.run.Instant()+".clean.inflight", "")
				case "inflight":
					begun()
				case "half":
					begun()
					for _, v := range e.rows[:len(e.rows)/2] {
						if !v.Directory {
							err = disk.Remove(t.Context(), string(v.Key), "")
						}
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				if stop != "never" {
					if a := o.ask(t, "finish", dir); a.Error != nil {
						t.Errorf("%s left %s: Hudi can't finish: %v", policy, stop, a.Error)
					}
				}
				for _, f := range slices.Concat(p.Deleted, p.OtherRemoved) {
					if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
						t.Errorf("%s left %s: %s still stands", policy, stop, f)
					}
				}
				for f := range c.Expected.DataFiles {
					if _, err := os.Stat(filepath.Join(dir, f)); err != nil && !slices.Contains(p.Deleted, f) {
						t.Errorf("%s left %s: %s is gone", policy, stop, f)
					}
				}
				if len(c.Expected.MetadataPartitions) == 0 {
					continue
				}
				var list struct {
					Error any  `json:"error"`
					Equal bool `json:"equal"`
				}
				if err := json.Unmarshal(o.raw(t, "list", dir), &list); err != nil || list.Error != nil || !list.Equal {
					t.Errorf("%s left %s: Hudi's listings differ: %v, %v", policy, stop, list.Error, err)
				}
			}
		}
	})
}

// We finish the clean that Hudi left requested.
func TestWeFinishHudisCleans(t *testing.T) {
	fixture.Each(t, func(t *testing.T, c *fixture.Case) {
		p := c.Expected.Policies["commits"]
		if p.Clean == nil {
			return
		}
		before := slices.DeleteFunc(c.Table.Names(), func(f string) bool { return strings.HasPrefix(f, ".hoodie/") })
		for _, name := range c.Answers["commits"].Names() {
			if strings.HasSuffix(name, ".clean.requested") {
				c.Table.Put(name, contents(t, c.Answers["commits"], name), time.Time{})
			}
		}
		e, err := prepareAt(t, c.Table, lake.Root{Scheme: "file", Path: "lake/" + c.Name + "/commits/table"}, c.Table, retain.NewConfig(), p.Now.Add(time.Hour), lock.None{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.carryOut(t.Context(), c.Table); err != nil {
			t.Fatal(err)
		}
		checkCleaned(t, c.Table, p, before)
	})
}
