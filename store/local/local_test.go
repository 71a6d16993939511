package local_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/store/storetest"
)

func open(t testing.TB, dir string) store.Store {
	t.Helper()
	root, err := lake.ParseRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := local.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir()) }, storetest.Options{})
}

func TestStoreInAnOddPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my dir#1%2Bx?é")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, func(t *testing.T) store.Store {
		sub, err := os.MkdirTemp(dir, "x")
		if err != nil {
			t.Fatal(err)
		}
		return open(t, sub)
	}, storetest.Options{Slow: true})
}

func TestSymlinkedRootIsResolvedAndTold(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/real/f")
	if err := os.Symlink("real", dir+"/link"); err != nil {
		t.Skip(err)
	}
	real, err := filepath.EvalSymlinks(dir + "/real")
	if err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir+"/link").Traits().Resolved.String(); got != real {
		t.Errorf("resolved to %q", got)
	}
	if got := open(t, real).Traits().Resolved; got != (lake.Root{}) {
		t.Errorf("%v resolved to %v", real, got)
	}
}

func TestSymlinksAreListedAndNeverFollowed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/outside/secret")
	write(t, dir+"/t/p=1/f")
	for link, target := range map[string]string{"/t/in": "p=1", "/t/out": "../outside", "/t/abs": dir + "/outside", "/t/file": "p=1/f", "/t/broken": "nope"} {
		if err := os.Symlink(target, dir+link); err != nil {
			t.Skip(err)
		}
	}
	s := open(t, dir+"/t")
	page, err := s.List(t.Context(), store.PageRequest{Dirs: true})
	if err != nil || len(page.Entries) != 6 {
		t.Fatal(page, err)
	}
	for _, e := range page.Entries {
		if want := e.Name == "p=1"; want != (e.Kind == store.Dir) || !want && e.Kind != store.Symlink {
			t.Errorf("%+v", e)
		}
	}
	for _, prefix := range []string{"in/", "out/", "abs/", "broken/"} {
		if page, err := s.List(t.Context(), store.PageRequest{Dirs: true, Prefix: prefix}); err != nil || len(page.Entries) != 0 {
			t.Errorf("list %s: %v, %v", prefix, page, err)
		}
	}
	names := []string{"in/f", "out/secret", "abs/secret", "../outside/secret", "broken/x"}
	for _, name := range names {
		outcomes, err := s.Delete(t.Context(), []store.Target{{Name: name}})
		if err != nil || outcomes[0].Err == nil {
			t.Errorf("delete %s: %v, %v", name, outcomes, err)
		}
		if err := s.Remove(t.Context(), name, ""); err == nil {
			t.Errorf("removed %s", name)
		}
		if err := s.PutIfAbsent(t.Context(), filepath.ToSlash(filepath.Dir(name))+"/new", nil); err == nil {
			t.Errorf("wrote beside %s", name)
		}
		if err := s.DeleteDir(t.Context(), filepath.ToSlash(filepath.Dir(name))); err == nil {
			t.Errorf("removed the directory of %s", name)
		}
	}
	for _, name := range []string{"out/secret", "abs/secret", "../outside/secret"} {
		if _, err := s.Open(t.Context(), name, 0, -1); err == nil {
			t.Errorf("read %s", name)
		}
	}
	for _, name := range []string{"/outside/secret", "/t/p=1/f"} {
		if _, err := os.Stat(dir + name); err != nil {
			t.Error(err)
		}
	}
	if outcomes, err := s.Delete(t.Context(), []store.Target{{Name: "file"}}); err != nil || outcomes[0].Err != nil {
		t.Errorf("delete a symlink itself: %v, %v", outcomes, err)
	}
	if _, err := os.Stat(dir + "/t/p=1/f"); err != nil {
		t.Error(err)
	}
}

func TestDirectoryThatVanishesIsEmpty(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		write(t, fmt.Sprintf("%s/d/f%d", dir, i))
	}
	s := open(t, dir)
	page, err := s.List(t.Context(), store.PageRequest{Prefix: "d/", Dirs: true, Limit: 10})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	if err := os.RemoveAll(dir + "/d"); err != nil {
		t.Fatal(err)
	}
	for req := (store.PageRequest{Prefix: "d/", Dirs: true, Token: page.Next}); req.Token != ""; req.Token = page.Next {
		if page, err = s.List(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := s.List(t.Context(), store.PageRequest{Prefix: "d/", Dirs: true}); err != nil || len(page.Entries) != 0 {
		t.Fatal(page, err)
	}
}

func TestForgottenListingIsAnError(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		write(t, fmt.Sprintf("%s/d/f%d", dir, i))
	}
	s := open(t, dir)
	first := store.PageRequest{Prefix: "d/", Dirs: true, Limit: 1}
	page, err := s.List(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	token := page.Next
	for range 300 {
		if _, err := s.List(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	for _, token := range []string{token, "nope"} {
		if page, err := s.List(t.Context(), store.PageRequest{Prefix: "d/", Dirs: true, Token: token}); !errors.Is(err, store.ErrTruncated) {
			t.Errorf("%v, %v", page, err)
		}
	}
}

func TestOpenNeedsADirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/f")
	for name, want := range map[string]error{"nope": fs.ErrNotExist, "f": nil} {
		_, err := local.Open(t.Context(), lake.Root{Scheme: "file", Path: strings.Trim(filepath.ToSlash(dir), "/") + "/" + name})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeniedIsToldAsSuch(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root is denied nothing")
	}
	dir := t.TempDir()
	write(t, dir+"/d/f")
	if err := os.Chmod(dir+"/d", 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir+"/d", 0o777) })
	outcomes, err := open(t, dir).Delete(t.Context(), []store.Target{{Name: "d/f"}})
	if err != nil || lake.KindOf(outcomes[0].Err) != lake.Denied {
		t.Fatal(outcomes, err)
	}
}
