package blobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
)

// Each folder between a root and its blobs is asked once, by one request,
// however many blobs lie in it and whoever asks at the same time; an answer that
// wasn't got is asked for again.
func TestFoldersAreAskedOnce(t *testing.T) {
	s := mem.New(mem.Options{})
	var m store.Meter
	fail := false // once
	faults := store.NewFaults(func(c store.Call) (i store.Injection) {
		if fail && c.Op == "list" {
			fail, i.Err = false, errors.New("a fault")
		}
		return i
	})
	reg := store.Registry{Classes: map[string]store.OpenFunc{"mem": func(_ context.Context, root lake.Root) (store.Store, error) {
		if root.Path == "media" {
			return m.Wrap(faults.Wrap(s)), nil
		}
		return mem.New(mem.Options{}), nil
	}}}
	root := lake.Root{Scheme: "mem", Authority: "b", Path: "media"}
	names, err := lake.NewBlobNames(lake.BlobOptions{Table: lake.Root{Scheme: "mem", Authority: "lake", Path: "t"}, Roots: []lake.Root{root}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		s.Put(fmt.Sprintf("a/%d/x", i%4), nil, time.Time{})
		s.Put(fmt.Sprintf("a/%d/%d", i%4, i), nil, time.Time{})
		s.Put(fmt.Sprintf("t/p=%d/%d", i%4, i), nil, time.Time{})
	}
	s.Put("t/_delta_log/0.json", nil, time.Time{})
	b, err := openPlaces(t.Context(), reg, names, []lake.Root{root})
	if err == nil {
		err = b.claim(t.Context(), blobqueue.Claimer{Table: "mem://lake/t", ID: "t"}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(dir string, i int) error {
		at := root
		at.Path += fmt.Sprintf("/%s%d/%d", dir, i%4, i)
		_, _, err := b.open(t.Context(), at)
		return err
	}
	before := m.Usage()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if err := ask("a/", i); err != nil {
				t.Error(err)
			}
			if err := ask("t/p=", i); !errors.Is(err, drain.ErrForeign) {
				t.Errorf("in a table: %v", err)
			}
		})
	}
	wg.Wait()
	u := m.Usage()
	// a, a/0 to a/3, t: what lies in a table isn't looked at.
	if n := u.List.Requests - before.List.Requests; n != 6 || u.Stat.Requests+u.Open.Requests != before.Stat.Requests+before.Open.Requests {
		t.Errorf("%d folders were listed: %+v", n, u)
	}
	s.Put("c/0/0", nil, time.Time{})
	fail = true
	if err := ask("c/", 0); err == nil || errors.Is(err, drain.ErrForeign) {
		t.Errorf("a fault: %v", err)
	}
	if err := ask("c/", 0); err != nil {
		t.Errorf("after the fault: %v", err)
	}
}
