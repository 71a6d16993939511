package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// smallPages lists two entries a page, and fails at its failAt-th page.
type smallPages struct {
	store.Reader
	failAt int
	pages  *int
}

var errPage = errors.New("no page")

func (s smallPages) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	if *s.pages++; *s.pages == s.failAt {
		return store.Page{}, errPage
	}
	req.Limit = 2
	return s.Reader.List(ctx, req)
}

func TestFolder(t *testing.T) {
	st := mem.New(mem.Options{})
	for _, name := range []string{"a", "d/1", "d/2", "d/3", "d/4/x", "d/4/y", "d/5", "e"} {
		if err := st.PutIfAbsent(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		failAt, stopAfter int
		want              []string
		pages             int
	}{
		{0, 9, []string{"d/1", "d/2", "d/3", "d/4", "d/5"}, 3},
		{2, 9, []string{"d/1", "d/2", "no page"}, 2},
		{0, 2, []string{"d/1", "d/2"}, 1},
	} {
		pages := 0
		var got []string
		for e, err := range store.Folder(t.Context(), smallPages{st, c.failAt, &pages}, "d/") {
			if err != nil {
				got = append(got, fmt.Sprint(err))
				continue
			}
			if got = append(got, e.Name); len(got) == c.stopAfter {
				break
			}
		}
		if !slices.Equal(got, c.want) || pages != c.pages {
			t.Errorf("%+v: %q in %d pages", c, got, pages)
		}
	}
}
