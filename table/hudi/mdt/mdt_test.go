package mdt

import (
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/store"
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
		"deleted":                    {map[string]fileInfo{"a": live(1)}, map[string]fileInfo{"a": gone}, map[string]fileInfo{}},
		"deleted below":              {nil, map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}},
		"the larger size counts":     {map[string]fileInfo{"a": live(5)}, map[string]fileInfo{"a": live(3)}, map[string]fileInfo{"a": live(5)}},
		"written after its deletion": {map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": live(3)}, map[string]fileInfo{"a": live(3)}},
		"two tombstones, Hudi's way": {map[string]fileInfo{"a": gone}, map[string]fileInfo{"a": gone}, map[string]fileInfo{}},
	} {
		if diff := cmp.Diff(c.want, merge(c.older, c.newer)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
