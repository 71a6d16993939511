package listing

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/store/mem"
)

// directoriesOnly are the traits of a store that lists directory by directory.
func directoriesOnly() store.Traits {
	t := mem.Default()
	t.StartAfter, t.Flat, t.Directories = false, false, true
	return t
}

// TestEnterSeesAllBeforeItDecides: Enter gets every entry of a directory, and
// what it drops or doesn't descend into isn't listed.
func TestEnterSeesAllBeforeItDecides(t *testing.T) {
	traits := directoriesOnly()
	traits.PageSize = 2
	s := filled(mem.Options{Traits: traits}, []string{"a/1", "a/2", "a/3", "b/_delta_log/0.json", "b/x", "_hid/y", "c"})
	var mu sync.Mutex
	seen := map[string][]string{}
	var got collector
	st, err := Walk(t.Context(), s, Options{Enter: func(_ context.Context, dir string, entries []store.Info) (Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range entries {
			seen[dir] = append(seen[dir], e.Name)
		}
		return Decision{Drop: dir == "b", Descend: func(sub string) bool { return !strings.HasPrefix(sub, "_") }}, nil
	}}, got.emit)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"": {"_hid", "a", "b", "c"}, "a": {"a/1", "a/2", "a/3"}, "b": {"b/_delta_log", "b/x"}}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("Enter saw %v, want %v", seen, want)
	}
	if names := got.sorted(); !slices.Equal(names, []string{"_hid/", "a/", "a/1", "a/2", "a/3", "b/", "c"}) {
		t.Errorf("emitted %q", names)
	}
	if st.Directories != 3 || st.Requests != 5 {
		t.Errorf("%d directories by %d pages, want 3 by 5", st.Directories, st.Requests)
	}
}

// TestDirectoryThatVanishesIsSkipped, but not the root (B053).
func TestDirectoryThatVanishesIsSkipped(t *testing.T) {
	s := filled(mem.Options{Traits: directoriesOnly()}, []string{"a/1", "b/1", "c"})
	gone := func(prefix string) *troubled {
		return &troubled{Reader: s, list: func(_ int64, req store.PageRequest) error {
			if req.Prefix == prefix {
				return fs.ErrNotExist
			}
			return nil
		}}
	}
	got, st, err := listed(t, gone("b/"), Options{})
	if err != nil || st.Vanished != 1 || !slices.Equal(got, []string{"a/", "a/1", "b/", "c"}) {
		t.Errorf("got %q, %+v, %v", got, st, err)
	}
	if _, _, err := listed(t, gone(""), Options{}); lake.KindOf(err) != lake.NotTable {
		t.Errorf("a root that isn't there: %v", err)
	}
}

// TestPagesEndAnywhere lists directories of a page of names, one less, one
// more, and one and a half (B053).
func TestPagesEndAnywhere(t *testing.T) {
	traits := directoriesOnly()
	traits.PageSize = 10
	for _, n := range []int{0, 9, 10, 11, 15, 20} {
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("f%02d", i))
		}
		got, _, err := listed(t, &troubled{Reader: filled(mem.Options{Traits: traits}, want)}, Options{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d names: got %q, %v", n, got, err)
		}
	}
}

// TestLocalTree lists a real tree with a symlink to a directory, a loop and an
// empty directory.
func TestLocalTree(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"p=1/q=2", "empty", "_delta_log"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a", "p=1/b", "p=1/q=2/c d%20é", "_delta_log/0.json"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(dir, "p=1/loop")); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	root, err := lake.ParsePlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := local.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got collector
	var mu sync.Mutex
	var empty []string
	st, err := Walk(t.Context(), s, Options{Enter: func(_ context.Context, dir string, entries []store.Info) (Decision, error) {
		if len(entries) == 0 {
			mu.Lock()
			defer mu.Unlock()
			empty = append(empty, dir)
		}
		return Decision{}, nil
	}}, got.emit)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"_delta_log/", "_delta_log/0.json", "a", "empty/", "p=1/", "p=1/b", "p=1/loop", "p=1/q=2/", "p=1/q=2/c d%20é"}
	if names := got.sorted(); !slices.Equal(names, want) {
		t.Errorf("got %q\nwant %q", names, want)
	}
	if got.kinds[store.Symlink] != 1 || !slices.Equal(empty, []string{"empty"}) || st.Directories != 5 {
		t.Errorf("%v, empty %q, %+v", got.kinds, empty, st)
	}
}

// TestPendingDirectoriesStayFew walks a tree of 10^6 leaves as one worker would.
func TestPendingDirectoriesStayFew(t *testing.T) {
	const fan, depth = 100, 3
	d := &dirs{pending: []string{""}}
	most, leaves := 0, 0
	for {
		dir, ok := d.next()
		if !ok {
			break
		}
		if len(dir) == depth {
			leaves++
			continue
		}
		for i := range fan {
			d.pending = append(d.pending, dir+string(rune(i+1)))
		}
		most = max(most, len(d.pending))
	}
	if leaves != fan*fan*fan || most > 2*manyPending+depth*fan {
		t.Errorf("%d leaves, up to %d pending", leaves, most)
	}
}
