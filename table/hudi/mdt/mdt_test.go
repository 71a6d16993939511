package mdt

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/mdttest"
)

func read(t *testing.T, r store.Reader, name string) []byte {
	t.Helper()
	rc, err := r.Open(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	data, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func modified(t *testing.T, r store.Reader, name string) time.Time {
	t.Helper()
	i, err := r.Stat(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Modified
}

func TestMerge(t *testing.T) {
	live, gone := func(n int64) fileInfo { return fileInfo{Size: n} }, fileInfo{Deleted: true}
	for name, c := range map[string]struct{ older, newer, want map[string]fileInfo }{
		"added":                      {map[string]fileInfo{"a": live(1)}, map[string]fileInfo{"b": live(2)}, map[string]fileInfo{"a": live(1), "b": live(2)}},
		"deleted":                    {map[string]fileInfo{"a": live(1)}, map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}},
		"deleted below":              {nil, map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}},
		"the larger size counts":     {map[string]fileInfo{"a": live(5)}, map[string]fileInfo{"a": live(3)}, map[string]fileInfo{"a": live(5)}},
		"written after its deletion": {map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": live(3)}, map[string]fileInfo{"a": live(3)}},
		"deleted twice":              {map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}},
	} {
		if diff := cmp.Diff(c.want, merge(c.older, c.newer)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// smallTable is a table of version 8 whose metadata table was made of a listing.
func smallTable(t *testing.T, files mdttest.Files) (*mem.Store, *mdttest.Table) {
	t.Helper()
	s := mem.New(mem.Options{})
	put := func(name string, data []byte) error { s.Put(name, data, time.Time{}); return nil }
	s.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=8\nhoodie.timeline.layout.version=2\nhoodie.table.metadata.partitions=files\n"), time.Time{})
	m := &mdttest.Table{Name: "small", Version: 8, Put: put}
	if err := m.Make(files, "20260101000000000"); err != nil {
		t.Fatal(err)
	}
	return s, m
}

// A file that the log deletes twice, or adds and deletes again, isn't listed,
// though the base file has it: a restore and a clean that was pending then both
// delete it.
func TestListsNothingThatIsDeletedTwice(t *testing.T) {
	s, m := smallTable(t, mdttest.Files{"": {"a": 1, "b": 1, "c": 1}})
	for n, c := range []mdttest.Change{
		{Gone: mdttest.Files{"": {"a": 0, "b": 0}}},
		{Gone: mdttest.Files{"": {"a": 0}}, Added: mdttest.Files{"": {"b": 1}}},
		{Gone: mdttest.Files{"": {"b": 0}}},
	} {
		at := fmt.Sprintf("2026010%d000000000", n+2)
		if err := m.Write(at, at[:16]+"9", c); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]int64{"c": 1}, listing(t, open(t, s))); diff != "" {
		t.Error(diff)
	}
}
