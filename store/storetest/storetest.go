// Package storetest is the suite that every store passes: the contract of
// package store as tests. A store says by its Traits what it can't do; Options
// holds what a particular server is known to get wrong.
package storetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/lakesweep/lakesweep/store"
)

// Options are the limits of a server that its store can't know. Each use is
// named in the capability table of the docs.
type Options struct {
	PlainNames     bool // names must be UTF-8 without control characters
	NoSlashNames   bool // "a//b" and "./a" are other spellings of "a/b" and "a", and no object can have a directory's name: a file system behind the server
	NoIfMatch      bool // Target.IfMatch is ignored, though the real store honours it
	NoPutCondition bool // Replace's condition is ignored
	NoBackslash    bool // a backslash in a name is a slash
	NoColon        bool // no name has a colon
	LongDirPages   bool // folded names don't count in a page's limit, though they do in the real store
	Slow           bool // fewer objects and rounds
}

// Run runs the suite. open returns a new, empty store for each test.
func Run(t *testing.T, open func(*testing.T) store.Store, opt Options) {
	for name, test := range map[string]func(*testing.T, store.Store, Options){
		"every name keeps its bytes":               testNames,
		"listings follow byte order":               testOrder,
		"every object comes once at any page edge": testPages,
		"directories fold what is below them":      testDirs,
		"a listing goes on after any name":         testAfter,
		"random listings equal the sorted set":     testRandomListings,
		"ranges read what is there":                testRanges,
		"what is missing is ErrNotExist":           testMissing,
		"one of many creators wins":                testCreateRace,
		"replacing is whole and conditional":       testReplace,
		"removing is conditional":                  testRemove,
		"a batch tells each outcome in order":      testDelete,
		"deletes depend on the ETag":               testDeleteIfMatch,
		"only empty directories go":                testDeleteDir,
		"a copy never overwrites":                  testCopy,
		"a cancelled context ends every call":      testCancelled,
		"the traits make sense":                    testTraits,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t), opt) })
	}
}

func put(t *testing.T, s store.Store, name string, data string) {
	t.Helper()
	if err := s.PutIfAbsent(t.Context(), name, []byte(data)); err != nil {
		t.Fatalf("create %q: %v", name, err)
	}
}

func read(t *testing.T, s store.Reader, name string, offset, length int64) string {
	t.Helper()
	r, err := s.Open(t.Context(), name, offset, length)
	if err != nil {
		t.Fatalf("open %q: %v", name, err)
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %q: %v", name, err)
	}
	return string(data)
}

// pages reads a listing to its end in pages of at most limit entries.
func pages(t *testing.T, s store.Reader, req store.PageRequest) []store.Info {
	t.Helper()
	var all []store.Info
	for {
		page, err := s.List(t.Context(), req)
		if err != nil {
			t.Fatalf("list %+v: %v", req, err)
		}
		if req.Limit > 0 && len(page.Entries) > req.Limit {
			t.Fatalf("list %+v: %d entries", req, len(page.Entries))
		}
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all
		}
		req.Token, req.After = page.Next, ""
	}
}

// walk returns the names of all objects below prefix, in byte order, whatever
// kind of listing the store has.
func walk(t *testing.T, s store.Reader, prefix string, limit int) []string {
	t.Helper()
	var found []string
	if s.Traits().Flat {
		for _, e := range pages(t, s, store.PageRequest{Prefix: prefix, Limit: limit}) {
			found = append(found, e.Listed())
		}
		return found
	}
	for _, e := range pages(t, s, store.PageRequest{Prefix: prefix, Dirs: true, Limit: limit}) {
		if e.Kind == store.Dir {
			found = append(found, walk(t, s, e.Listed(), limit)...)
		} else {
			found = append(found, e.Listed())
		}
	}
	slices.Sort(found)
	return found
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// names are names as partition values and writers make them.
func names(tr store.Traits, opt Options) []string {
	all := []string{
		"a b", "a+b", "a%20b", "a%2520b", "p=50%/x", "p=A%2FA/x", "q#1", "q?x=1&y=2", "k=v=w", `it's "so"`, "[1]", "{a}", "t~1", "x<y>", "a|b", "back\\slash",
		"ключ=значение/файл", "日本/語", "emoji 😀/🚀", "e\u0301", "é", "a.b", "a-b", "a_b", "a0b", "ts=2024-01-01 10:00:00/f", "$folder$", "@at", "comma,semi;colon:", "^", "`", "!", "*", "(x)",
		"deep/" + strings.Repeat("d/", 20) + "f", "trailing space ", " leading", "dot.", "..x", ".hidden",
	}
	if !opt.PlainNames {
		all = append(all, "new\nline", "tab\tx", "del\x7f", "low\x01", "return\rx", "bad\xff", "\xfe\xfd/x", "cut\xc3")
	}
	if opt.NoColon {
		all = slices.DeleteFunc(all, func(name string) bool { return strings.Contains(name, ":") })
	}
	if opt.NoBackslash {
		all = slices.DeleteFunc(all, func(name string) bool { return strings.Contains(name, `\`) })
	}
	if !tr.Directories && !opt.NoSlashNames {
		all = append(all, "s//t", "s///t", "m/", "/front", "s/../u", "./v", "w/./x", "both", "both/x", "both/")
	}
	return all
}

func testNames(t *testing.T, s store.Store, opt Options) {
	all := names(s.Traits(), opt)
	for _, name := range all {
		put(t, s, name, "<"+name+">")
	}
	slices.Sort(all)
	equal(t, "names", walk(t, s, "", 0), all)
	for _, name := range all {
		if got := read(t, s, name, 0, -1); got != "<"+name+">" {
			t.Errorf("%q holds %q", name, got)
		}
		info, err := s.Stat(t.Context(), name)
		if err != nil || info.Listed() != name || info.Size != int64(len(name)+2) || info.Modified.IsZero() {
			t.Errorf("%q: %+v, %v", name, info, err)
		}
	}
	var targets []store.Target
	for _, name := range all[:len(all)/2] {
		targets = append(targets, store.Target{Name: name})
	}
	outcomes, err := s.Delete(t.Context(), targets)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Errorf("delete %q: %v", o.Target.Name, o.Err)
		}
	}
	equal(t, "names that weren't deleted", walk(t, s, "", 0), all[len(all)/2:])
}

func testRanges(t *testing.T, s store.Store, _ Options) {
	put(t, s, "f", "0123456789")
	put(t, s, "empty", "")
	for _, c := range []struct {
		name           string
		offset, length int64
		want           string
	}{
		{"f", 0, -1, "0123456789"}, {"f", 0, 10, "0123456789"}, {"f", 3, 4, "3456"}, {"f", 9, 1, "9"}, {"f", 7, -1, "789"},
		{"f", 7, 100, "789"}, {"f", 10, 5, ""}, {"f", 10, -1, ""}, {"f", 99, 1, ""}, {"f", 99, -1, ""}, {"f", 4, 0, ""},
		{"empty", 0, -1, ""}, {"empty", 0, 4, ""}, {"empty", 3, -1, ""},
	} {
		if got := read(t, s, c.name, c.offset, c.length); got != c.want {
			t.Errorf("%s from %d, %d bytes: %q, want %q", c.name, c.offset, c.length, got, c.want)
		}
	}
	if _, err := s.Open(t.Context(), "f", -1, 2); err == nil {
		t.Error("a negative offset is accepted")
	}
}

func testMissing(t *testing.T, s store.Store, opt Options) {
	put(t, s, "d/f", "x")
	for _, name := range []string{"nope", "d/nope", "nope/f", "d/f/below"} {
		if _, err := s.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %q: %v", name, err)
		}
		if _, err := s.Open(t.Context(), name, 0, -1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := s.Open(t.Context(), name, 0, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open nothing of %q: %v", name, err)
		}
		if err := s.Remove(t.Context(), name, ""); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	for _, name := range []string{"d//f", "./d/f", "d/./f", "x/../d/f", "d/f/", "/d/f"} {
		// Other spellings of a name are other names.
		if opt.NoSlashNames {
			break
		}
		if _, err := s.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %q: %v", name, err)
		}
	}
	for _, prefix := range []string{"nope/", "d/f/", "nope/nope/"} {
		if got := pages(t, s, store.PageRequest{Prefix: prefix, Dirs: true}); len(got) != 0 {
			t.Errorf("list %q: %v", prefix, got)
		}
	}
}

func testCancelled(t *testing.T, s store.Store, _ Options) {
	put(t, s, "f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, stat := s.Stat(ctx, "f")
	_, open := s.Open(ctx, "f", 0, -1)
	_, list := s.List(ctx, store.PageRequest{Dirs: true})
	_, replace := s.Replace(ctx, "f", []byte("y"), "")
	outcomes, del := s.Delete(ctx, []store.Target{{Name: "f"}})
	if del == nil && len(outcomes) == 1 {
		del = outcomes[0].Err
	}
	for what, err := range map[string]error{
		"stat": stat, "open": open, "list": list, "replace": replace, "delete": del,
		"create": s.PutIfAbsent(ctx, "g", nil), "remove": s.Remove(ctx, "f", ""), "remove directory": s.DeleteDir(ctx, "d"), "copy": s.Copy(ctx, "f", s, "h"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	equal(t, "objects afterwards", walk(t, s, "", 0), []string{"f"})
	if got := read(t, s, "f", 0, -1); got != "x" {
		t.Errorf("f holds %q", got)
	}
}

func testTraits(t *testing.T, s store.Store, _ Options) {
	tr := s.Traits()
	if tr.Name == "" || tr.DeleteBatch < 1 || tr.PageSize < 1 || tr.StartAfter && !tr.Flat {
		t.Errorf("%+v", tr)
	}
	if _, err := s.Status(t.Context()); err != nil {
		t.Error(err)
	}
	if !tr.Flat {
		if _, err := s.List(t.Context(), store.PageRequest{}); !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("a flat listing: %v", err)
		}
	}
	big := make([]store.Target, tr.DeleteBatch+1)
	for i := range big {
		big[i].Name = strings.Repeat("x", 1+i%9)
	}
	if _, err := s.Delete(t.Context(), big); err == nil {
		t.Errorf("a batch of %d is accepted", len(big))
	}
}
