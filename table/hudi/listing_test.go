package hudi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
	"github.com/lakesweep/lakesweep/table/hudi/retain"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// startListing gives the model a metadata table of what its writes wrote until
// now. Each write goes on to commit to it.
func (m *model) startListing() {
	m.listing = &mdttest.Table{Name: "model", Version: m.version, Put: func(name string, data []byte) error { m.put(name, data, m.now); return nil }}
	for _, p := range m.partitions() {
		if m.listed[p] == nil {
			m.listed[p] = map[string]int64{}
		}
	}
	if err := m.listing.Make(m.listed, timeline.FormatTime(m.now.Add(10*time.Minute), time.UTC)); err != nil {
		m.t.Fatal(err)
	}
	m.file(".hoodie/hoodie.properties", []byte(m.texts+"hoodie.table.metadata.partitions=files\n"))
	// A write makes the metadata table, and commits to it.
	m.insert(m.tick())
	m.trace = append(m.trace, "metadata table")
}

// list adds what a write wrote to the metadata table, which is now and then
// compacted before.
func (m *model) list(at string, s stats) {
	fresh := mdttest.Files{}
	if m.listed == nil {
		m.listed = mdttest.Files{}
	}
	for p, list := range s {
		for _, one := range list {
			fresh.Add(p, lake.Key(one.Path).Base(), int64(len(m.content)))
			m.listed.Add(p, lake.Key(one.Path).Base(), int64(len(m.content)))
		}
	}
	if m.listing == nil {
		return
	}
	err := error(nil)
	if m.rng.IntN(6) == 0 {
		before := m.now.Add(-10 * time.Minute)
		err = m.listing.Compact(timeline.FormatTime(before, time.UTC), timeline.FormatTime(before.Add(time.Minute), time.UTC))
	}
	if err == nil {
		err = m.listing.Commit(at, timeline.FormatTime(m.now.Add(4*time.Minute), time.UTC), fresh)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// cleaned notes what a clean of ours deleted.
func (m *model) cleaned(e *execution) {
	gone, partitions := mdttest.Files{}, []string(nil)
	for _, v := range e.rows {
		if v.Directory {
			partitions = append(partitions, string(v.Key))
			continue
		}
		gone.Add(string(v.Key.Dir()), v.Key.Base(), 0)
		delete(m.listed[string(v.Key.Dir())], v.Key.Base())
	}
	for _, p := range partitions {
		delete(m.listed, p)
	}
	m.listing.Cleaned(e.run.Instant(), gone, partitions)
}

// listings is what the oracle's command "list" answers.
type listings struct {
	Error    any                         `json:"error"`
	Metadata map[string]map[string]int64 `json:"metadataTable"`
	Folders  map[string]map[string]int64 `json:"fileSystem"`
}

// After each of our cleans of random tables Hudi lists by the metadata table
// what it and we should, and what is left in the folders but for leftovers of
// writes that never completed. The plans before were Hudi's own planner's by the
// same listing.
func TestHudiListsWhatOurCleansLeave(t *testing.T) {
	program := startOracle(t)
	n, first := oracleCases(t, 40)
	cleans, odd := 0, 0
	for seed := first; seed < first+n; seed++ {
		m, dir := randomTable(t, seed)
		m.content = []byte("x")
		m.insert(m.tick())
		for range m.rng.IntN(10) {
			m.step()
		}
		m.startListing()
		for range 3 + m.rng.IntN(10) {
			m.step()
		}
		root, err := lake.ParseRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		disk, err := local.Open(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			c := m.config([]retain.Policy{retain.LatestCommits, retain.LatestVersions, retain.LatestHours}[m.rng.IntN(3)])
			fail := func(format string, args ...any) {
				t.Helper()
				t.Errorf("seed %d, round %d, version %d, mor %v, %s %d/%d/%d:\n%s", seed, round, m.version, m.mor, c.Policy, c.Commits, c.Versions, c.Hours, strings.Join(m.trace, "\n"))
				t.Fatalf(format, args...)
			}
			a := askPlan(t, program, dir, c, m)
			if a.Error != nil {
				fail("the oracle fails: %v", a.Error)
			}
			if diff := m.compare(t, program, dir, c, a, &odd); diff != "" {
				fail("the plans differ: %s", diff)
			}
			e, err := prepareAt(t, disk, root, disk, c, m.clock(), lock.None{})
			if err != nil {
				fail("%v", err)
			}
			if e.tab.snap.Folders.Files == nil {
				fail("the metadata table isn't trusted: %v", e.tab.snap.Distrust)
			}
			if len(e.rows) > 0 {
				if err := e.carryOut(t.Context(), disk); err != nil {
					fail("%v", err)
				}
				cleans++
				m.cleaned(e)
			}
			if diff := m.compareListings(t, program, dir); diff != "" {
				fail("after the clean of %v: %s", names(e), diff)
			}
			m.between()
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d tables from seed %d, %d cleans, %d careful differences", n, first, cleans, odd)
	if uint64(cleans) < n/3 {
		t.Errorf("only %d cleans", cleans)
	}
}

// compareListings compares what Hudi lists with the model, our own reading of
// the metadata table, and the folders.
func (m *model) compareListings(t *testing.T, o *oracle, dir string) string {
	t.Helper()
	var l listings
	if err := json.Unmarshal(o.raw(t, "list", dir), &l); err != nil {
		t.Fatal(err)
	}
	if l.Error != nil {
		return fmt.Sprintf("the oracle fails: %v", l.Error)
	}
	// A dead partition that the metadata table's base file named may be listed
	// on, without files: Hudi does so more often than we.
	dead := func(p string, names map[string]int64) bool { return len(names) == 0 && m.listed[p] == nil }
	files := maps.Clone(l.Metadata)
	maps.DeleteFunc(files, dead)
	if diff := cmp.Diff(map[string]map[string]int64(m.listed), files); diff != "" {
		return "by the metadata table: " + diff
	}
	tab := openOn(t, dir, m.clock)
	if tab.snap.Folders.Files == nil {
		return fmt.Sprintf("the metadata table isn't trusted: %v", tab.snap.Distrust)
	}
	ours := make(map[string]map[string]int64)
	partitions, err := tab.snap.Folders.Files.Partitions()
	for _, p := range partitions {
		if err == nil {
			ours[p], err = tab.snap.Folders.Files.Partition(p)
		}
	}
	if err != nil {
		return err.Error()
	}
	maps.DeleteFunc(ours, dead)
	if diff := cmp.Diff(files, ours); diff != "" {
		return "as we read it: " + diff
	}
	for p, names := range l.Folders {
		for name := range names {
			if _, ok := l.Metadata[p][name]; !ok && !slices.ContainsFunc(m.failed, func(f modelFailure) bool { return f.file == join(p, name) }) {
				return fmt.Sprintf("%s in %s was left", name, p)
			}
		}
	}
	for p, names := range l.Metadata {
		for name := range names {
			if _, ok := l.Folders[p][name]; !ok {
				return fmt.Sprintf("%s in %s is gone", name, p)
			}
		}
	}
	return ""
}

// openOn opens a table on disk.
func openOn(t *testing.T, dir string, now func() time.Time) *Table {
	t.Helper()
	root, err := lake.ParseRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := local.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := Open(t.Context(), s, root, Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// names are the paths of what a clean deletes.
func names(e *execution) (out []string) {
	for _, v := range e.rows {
		out = append(out, string(v.Key))
	}
	return out
}
