package sweep

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/inventory"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
)

func localEngine(wrap func(lake.Root, store.Store) store.Store) *Engine {
	return &Engine{Stores: store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}, Wrap: wrap},
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Tool: "lakesweep test", Getwd: os.Getwd}
}

// rowsIn returns the names in an inventory, sorted, and checks that sizes and times are known.
func rowsIn(t *testing.T, e *Engine, file string) []string {
	t.Helper()
	src, err := inventory.Open(t.Context(), inventory.Options{Source: file, Stores: e.Stores})
	if err != nil {
		t.Fatal(err)
	}
	rows := make(chan inventory.Row, 100)
	if _, err := src.Rows(t.Context(), func(batch []inventory.Row) error {
		for _, r := range batch {
			rows <- r
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	close(rows)
	var names []string
	for r := range rows {
		if r.Size != int64(len(filepath.Base(r.Name))) || r.Modified.Year() != 2020 {
			t.Errorf("%s: size %d, modified %v", r.Name, r.Size, r.Modified)
		}
		name := r.Name // absolute, if it has no place
		if r.Place != "" {
			name = r.Place + "/" + name
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// An inventory made of a prefix, and its conversion, name each file once, with size and time.
func TestMakeAndConvertInventory(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	var want []string
	for _, name := range []string{"a", "p=1/b c", "p=1/%20", "_delta_log/0.json", "ü/é"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(filepath.Base(name)), 0o644), os.Chtimes(file, at, at))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, filepath.ToSlash(file))
	}
	slices.Sort(want)
	e := localEngine(nil)
	made, converted := filepath.Join(out, "made"), filepath.Join(out, "converted")
	before := time.Now().Add(-time.Second)
	l, err := e.MakeInventory(t.Context(), ListRequest{Place: dir}, made)
	if err != nil || l.Objects != 5 || l.Bytes != 1+3+3+6+2 || l.Out != made {
		t.Fatalf("%+v, %v", l, err)
	}
	if got := rowsIn(t, e, made); !slices.Equal(got, want) {
		t.Errorf("made: %q, want %q", got, want)
	}
	if l, err = e.ConvertInventory(t.Context(), InventoryRequest{Source: made}, converted); err != nil || l.Objects != 5 {
		t.Fatalf("%+v, %v", l, err)
	}
	if got := rowsIn(t, e, converted); !slices.Equal(got, want) {
		t.Errorf("converted: %q, want %q", got, want)
	}
	for _, file := range []string{made, converted} {
		src, err := inventory.Open(t.Context(), inventory.Options{Source: file, Stores: e.Stores})
		if err != nil || src.Info().Taken.Before(before) || src.Info().Taken.After(time.Now()) {
			t.Errorf("%s: taken %v, %v", file, src.Info().Taken, err)
		}
	}
}

// At whatever store call a listing fails, no file appears and none stays half written.
func TestMakeInventoryFailsWhole(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for n := int64(1); ; n++ {
		faults := store.NewFaults(store.FailNth(n, store.Injection{Err: fs.ErrPermission}))
		out := t.TempDir()
		_, err := localEngine(func(root lake.Root, s store.Store) store.Store {
			if root.String() != dir { // a folder around the new file, looked at for tables
				return s
			}
			return faults.Wrap(s)
		}).MakeInventory(t.Context(), ListRequest{Place: dir}, filepath.Join(out, "list"))
		left, readErr := os.ReadDir(out)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if faults.Calls() < n {
			if err != nil || len(left) != 1 || n < 3 {
				t.Fatalf("%d calls: %v, %v", n, err, left)
			}
			return
		}
		if err == nil || len(left) > 0 {
			t.Fatalf("call %d failed: error %v, files %v", n, err, left)
		}
	}
}

func TestBenchListReckonsTheLimit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := localEngine(nil).BenchList(context.Background(), ListRequest{Place: dir, Tuning: Tuning{ListRate: 2}})
	if err != nil || l.Objects != 1 || l.Pages != 1 || l.Floor != 0.5 {
		t.Errorf("%+v, %v", l, err)
	}
}
