package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/lakesweep/lakesweep/store"
)

func testCreateRace(t *testing.T, s store.Store, opt Options) {
	rounds, writers := 5, 16
	if opt.Slow {
		rounds, writers = 2, 8
	}
	for round := range rounds {
		name := fmt.Sprintf("_delta_log/%020d.json", round)
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { errs[w] = s.PutIfAbsent(t.Context(), name, []byte(strings.Repeat(fmt.Sprint(w%10), 1000+w))) })
		}
		wg.Wait()
		won := -1
		for w, err := range errs {
			switch {
			case err == nil && won < 0:
				won = w
			case err == nil:
				t.Errorf("%s: %d and %d both created it", name, won, w)
			case !errors.Is(err, fs.ErrExist) && !store.Retryable(err):
				t.Errorf("%s: %v", name, err)
			}
		}
		if won < 0 {
			t.Fatalf("%s: nobody created it", name)
		}
		if got := read(t, s, name, 0, -1); got != strings.Repeat(fmt.Sprint(won%10), 1000+won) {
			t.Errorf("%s isn't the winner's", name)
		}
	}
	if got := walk(t, s, "_delta_log/", 0); len(got) != rounds {
		t.Errorf("left behind: %q", got)
	}
}

func testReplace(t *testing.T, s store.Store, opt Options) {
	ctx := t.Context()
	first, err := s.Replace(ctx, "f", []byte("one"), "")
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Stat(ctx, "f")
	if err != nil || info.ETag != first || first == "" {
		t.Errorf("ETag %q, %v; Replace gave %q", info.ETag, err, first)
	}
	second, err := s.Replace(ctx, "f", []byte("two!"), first)
	if err != nil || second == first {
		t.Fatalf("%q, %v", second, err)
	}
	if opt.NoPutCondition {
		return
	}
	if _, err := s.Replace(ctx, "f", []byte("three"), first); !errors.Is(err, store.ErrChanged) {
		t.Errorf("with an old ETag: %v", err)
	}
	if _, err := s.Replace(ctx, "new", []byte("x"), first); !errors.Is(err, store.ErrChanged) {
		t.Errorf("a missing object with an ETag: %v", err)
	}
	if got := read(t, s, "f", 0, -1); got != "two!" {
		t.Errorf("f holds %q", got)
	}
	equal(t, "objects", walk(t, s, "", 0), []string{"f"})
}

func testRemove(t *testing.T, s store.Store, opt Options) {
	ctx := t.Context()
	old, err := s.Replace(ctx, "f", []byte("one"), "")
	if err != nil {
		t.Fatal(err)
	}
	current, err := s.Replace(ctx, "f", []byte("other"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !opt.NoIfMatch {
		if err := s.Remove(ctx, "f", old); !errors.Is(err, store.ErrChanged) {
			t.Errorf("with an old ETag: %v", err)
		}
	}
	if err := s.Remove(ctx, "f", current); err != nil {
		t.Error(err)
	}
	put(t, s, "g", "x")
	if err := s.Remove(ctx, "g", ""); err != nil {
		t.Error(err)
	}
	equal(t, "objects", walk(t, s, "", 0), nil)
}

func testDelete(t *testing.T, s store.Store, opt Options) {
	n := min(60, s.Traits().DeleteBatch)
	if opt.Slow {
		n = min(20, n)
	}
	var targets []store.Target
	for i := range n {
		name := fmt.Sprintf("p=%d/f %d+%%", i%5, i)
		if i%3 != 0 {
			put(t, s, name, "x")
		}
		targets = append(targets, store.Target{Name: name})
	}
	put(t, s, "p=1/keep", "x")
	outcomes, err := s.Delete(t.Context(), targets)
	if err != nil || len(outcomes) != n {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	for i, o := range outcomes {
		if o.Target != targets[i] {
			t.Errorf("outcome %d is of %q", i, o.Target.Name)
		}
		// A store may not tell that an object was gone.
		if i%3 != 0 && o.Err != nil || o.Err != nil && !errors.Is(o.Err, fs.ErrNotExist) {
			t.Errorf("%q: %v", o.Target.Name, o.Err)
		}
	}
	equal(t, "what is left", walk(t, s, "", 0), []string{"p=1/keep"})
	if outcomes, err := s.Delete(t.Context(), nil); err != nil || len(outcomes) != 0 {
		t.Errorf("an empty batch: %v, %v", outcomes, err)
	}
}

func testDeleteIfMatch(t *testing.T, s store.Store, opt Options) {
	if !s.Traits().IfMatch || opt.NoIfMatch {
		t.Skip("deletes have no condition here")
	}
	ctx := t.Context()
	var targets []store.Target
	for i := range 6 {
		name := fmt.Sprintf("f%d", i)
		tag, err := s.Replace(ctx, name, []byte("listed"), "")
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if _, err := s.Replace(ctx, name, []byte("written since"), ""); err != nil {
				t.Fatal(err)
			}
		}
		targets = append(targets, store.Target{Name: name, IfMatch: tag})
	}
	outcomes, err := s.Delete(ctx, targets)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if changed := errors.Is(o.Err, store.ErrChanged); changed != (i%2 == 1) || !changed && o.Err != nil {
			t.Errorf("%s: %v", o.Target.Name, o.Err)
		}
	}
	equal(t, "what is left", walk(t, s, "", 0), []string{"f1", "f3", "f5"})
}

func testDeleteDir(t *testing.T, s store.Store, opt Options) {
	ctx := t.Context()
	put(t, s, "p=1/x", "x")
	put(t, s, "p=1-x", "x")
	if err := s.DeleteDir(ctx, "p=1"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a directory with a file: %v", err)
	}
	equal(t, "objects", walk(t, s, "", 0), []string{"p=1-x", "p=1/x"})
	if s.Traits().Directories {
		if err := s.DeleteDir(ctx, "p=1-x"); err == nil {
			t.Error("a file was removed as a directory")
		}
		if outcomes, err := s.Delete(ctx, []store.Target{{Name: "p=1"}}); err == nil && outcomes[0].Err == nil {
			t.Error("a directory was deleted as a file")
		}
	} else if !opt.NoSlashNames {
		put(t, s, "p=1/", "")
		if err := s.DeleteDir(ctx, "p=1"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a marker with a file: %v", err)
		}
	}
	if outcomes, err := s.Delete(ctx, []store.Target{{Name: "p=1/x"}}); err != nil || outcomes[0].Err != nil {
		t.Fatal(outcomes, err)
	}
	// Without directories or a marker there is nothing left to remove.
	if err := s.DeleteDir(ctx, "p=1"); err != nil && (s.Traits().Directories || !errors.Is(err, fs.ErrNotExist)) {
		t.Errorf("an empty directory: %v", err)
	}
	if err := s.DeleteDir(ctx, "p=1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is gone: %v", err)
	}
	equal(t, "objects", walk(t, s, "", 0), []string{"p=1-x"})
	if got := pages(t, s, store.PageRequest{Dirs: true}); len(got) != 1 {
		t.Errorf("listed: %+v", got)
	}
}

func testCopy(t *testing.T, s store.Store, _ Options) {
	ctx := t.Context()
	put(t, s, "p=a b%+/f", "one")
	put(t, s, "there", "two")
	if err := s.Copy(ctx, "p=a b%+/f", s, "q/p=a b%+/ф"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "q/p=a b%+/ф", 0, -1); got != "one" {
		t.Errorf("the copy holds %q", got)
	}
	if err := s.Copy(ctx, "p=a b%+/f", s, "there"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an object: %v", err)
	}
	if got := read(t, s, "there", 0, -1); got != "two" {
		t.Errorf("overwritten with %q", got)
	}
	if err := s.Copy(ctx, "nope", s, "new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a missing object: %v", err)
	}
	if err := s.Copy(ctx, "there", other{s}, "new"); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("to another kind of store: %v", err)
	}
	equal(t, "objects", walk(t, s, "", 0), []string{"p=a b%+/f", "q/p=a b%+/ф", "there"})
}

// other is a kind of store of its own.
type other struct{ store.Store }

func (other) Traits() store.Traits { return store.Traits{Name: "other"} }
