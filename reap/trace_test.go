package reap_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

var update = flag.Bool("update", false, "rewrite the golden traces")

// Each scenario's calls, in order, are in testdata/NAME.trace: what the stores,
// the guardian and the recorder saw, and how each row ended.
func TestTraces(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*world)
	}{
		{"conditional", func(*world) {}},
		{"aged", func(w *world) { w.table = unconditional(w.table); w.aged() }},
		{"lite", func(w *world) { w.table = unconditional(w.table); w.fromLog() }},
		{"quarantine", func(w *world) { w.opt.Quarantine = &reap.Quarantine{Root: shelf} }},
		{"checksums", func(w *world) { w.opt.Checksums = true; w.table.Put(".a.crc", nil, now) }},
		{"spared", func(w *world) { w.watch.protects = map[lake.Key]int{"a": 1, "p=1/b": 1, "p=1/c": 1} }},
		{"limit", func(w *world) { w.opt.MaxDelete = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, small(mem.Default()), "a", "e/", "e/f/", "p=1/b", "p=1/c")
			w.opt.BatchSize, w.opt.RefreshEvery = 2, time.Nanosecond
			w.opt.Now = ticking()
			c.set(w)
			var trace bytes.Buffer
			w.faults = store.NewFaults(func(c store.Call) store.Injection {
				fmt.Fprintf(&trace, "%s %s", c.Op, c.Name)
				if c.Count > 1 {
					fmt.Fprintf(&trace, " and %d more", c.Count-1)
				}
				fmt.Fprintln(&trace)
				return store.Injection{}
			})
			w.opt.Outcome = func(o reap.Outcome) { fmt.Fprintf(&trace, "  %s: %s\n", o.Key, o.Outcome) }
			w.watch.refreshed = func() { fmt.Fprintln(&trace, "refresh") }
			w.record.confirms = func(n int) { fmt.Fprintf(&trace, "confirm %d\n", n) }
			res, err := w.apply(context.Background(), w.cleared())
			fmt.Fprintf(&trace, "%+v\nerror: %v\n", res, err)
			golden(t, filepath.Join("testdata", c.name+".trace"), settled(trace.String()))
		})
	}
}

// settled sorts the stats of one batch, which run side by side.
func settled(trace string) []byte {
	lines := strings.SplitAfter(trace, "\n")
	for i := 0; i < len(lines); {
		n := i
		for n < len(lines) && strings.HasPrefix(lines[n], "stat ") {
			n++
		}
		slices.Sort(lines[i:n])
		i = max(n, i+1)
	}
	return []byte(strings.Join(lines, ""))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update rewrites it): %s", path, diff)
	}
}

// unconditional returns the objects of s in a store that can't delete on condition.
func unconditional(s *mem.Store) *mem.Store {
	to := mem.New(mem.Options{Traits: small(poor()), Now: clock})
	for _, name := range s.Names() {
		info, err := s.Stat(context.Background(), name)
		if err != nil {
			info.Modified = aged // a directory's marker
		}
		to.PutSized(name, info.Size, info.Modified)
	}
	return to
}
