package store_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// withTrash is a store that fails the first attempt to move each file.
type withTrash struct {
	store.Store
	mu    sync.Mutex
	tried map[string]bool
	moved []string
}

func (w *withTrash) Trash(_ context.Context, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name == "gone" {
		return fs.ErrNotExist
	}
	if !w.tried[name] {
		w.tried[name] = true
		return &lake.Error{Kind: lake.Transient, Err: errors.New("try again")}
	}
	w.moved = append(w.moved, name)
	return nil
}

func TestDeletesGoToTheTrash(t *testing.T) {
	base := &withTrash{Store: mem.New(mem.Options{}), tried: map[string]bool{}}
	for _, name := range []string{"a", "b"} {
		if err := base.PutIfAbsent(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	wrapped := store.Retry(store.NewPacer(store.PaceOptions{}).Pace(base), store.RetryOptions{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	s, err := store.InTrash(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := s.Delete(t.Context(), []store.Target{{Name: "a"}, {Name: "gone"}, {Name: "b"}, {Name: "a", Version: "1"}, {Name: "a", IfMatch: "1"}})
	if err != nil || len(outcomes) != 5 {
		t.Fatal(outcomes, err)
	}
	for i, want := range []error{nil, fs.ErrNotExist, nil, store.ErrUnsupported, store.ErrUnsupported} {
		if !errors.Is(outcomes[i].Err, want) {
			t.Errorf("%+v", outcomes[i])
		}
	}
	slices.Sort(base.moved)
	if !slices.Equal(base.moved, []string{"a", "b"}) {
		t.Errorf("moved %q", base.moved)
	}
	for _, name := range []string{"a", "b"} { // this trash is only a list
		if _, err := s.Stat(t.Context(), name); err != nil {
			t.Errorf("%s was deleted: %v", name, err)
		}
	}
	if _, err := store.InTrash(mem.New(mem.Options{})); !errors.Is(err, store.ErrUnsupported) {
		t.Error(err)
	}
}
