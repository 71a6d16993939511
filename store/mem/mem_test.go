package mem_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return mem.New(mem.Options{}) }, storetest.Options{})
}

func TestStoreOfDirectories(t *testing.T) {
	traits := mem.Default()
	traits.Flat, traits.StartAfter, traits.NamesFirst, traits.PageSize = false, false, true, 7
	open := func(*testing.T) store.Store { return mem.New(mem.Options{Traits: traits}) }
	storetest.Run(t, open, storetest.Options{})
}

func TestListSeesWhatWasWrittenAndDeletedMeanwhile(t *testing.T) {
	s := mem.New(mem.Options{})
	for _, name := range []string{"b", "d", "a", "c"} {
		s.Put(name, nil, time.Time{})
	}
	page, err := s.List(t.Context(), store.PageRequest{Limit: 2})
	if err != nil || page.Next != "b" {
		t.Fatal(page, err)
	}
	s.Put("bb", nil, time.Time{})
	if err := s.Remove(t.Context(), "c", ""); err != nil {
		t.Fatal(err)
	}
	page, err = s.List(t.Context(), store.PageRequest{Token: page.Next})
	if err != nil || len(page.Entries) != 2 || page.Entries[0].Name != "bb" || page.Entries[1].Name != "d" {
		t.Fatal(page, err)
	}
	if _, err := s.List(t.Context(), store.PageRequest{Token: "b", After: "a"}); err == nil || errors.Is(err, store.ErrUnsupported) {
		t.Fatal(err)
	}
}
