package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/listing"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
)

// A list that was made shows what a listing shows, also of a table below the
// place that was listed, and bears the start of the scan by the earlier clock.
func TestMake(t *testing.T) {
	clock := written.Add(-time.Minute)
	m := mem.New(mem.Options{Now: func() time.Time { return clock }})
	os := []object{{"t/p=1/a b%20", 3, 1577836800123}, {"t/_hidden", 0, 1e12}, {"u/x", 1, 1e12}}
	for _, o := range os {
		m.PutSized(o.key, o.size, o.time())
	}
	m.Put("t/p=2/", nil, written)
	at := lake.Root{Scheme: "s3", Authority: "b"}
	var out bytes.Buffer
	made, err := Make(t.Context(), m, at, "test", func() time.Time { return written }, listing.Options{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if made.Objects != 3 || made.Bytes != 4 || !made.Taken.Equal(clock) {
		t.Errorf("%+v", made)
	}
	s := newShelf()
	s.Put("list", out.Bytes(), written.Add(time.Hour))
	got, info, err := s.read(t.Context(), Options{Source: "mem://shelf/list"}, "s3")
	if err != nil || !cmp.Equal(got, wanted(os[:2], false)) || !info.Taken.Equal(clock) || info.Kind != "list" {
		t.Errorf("%v, %+v, %v", got, info, err)
	}
}

// On a disk sizes and times come from the files themselves; nothing but files is listed.
func TestMakeOnDisk(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1577836800, 123456789)
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "t/p=1"), 0o755), os.MkdirAll(filepath.Join(dir, "t/empty"), 0o755), os.WriteFile(filepath.Join(dir, "t/p=1/x"), []byte("abc"), 0o644),
		os.Chtimes(filepath.Join(dir, "t/p=1/x"), at, at), os.Symlink("x", filepath.Join(dir, "t/p=1/link")))
	if err != nil {
		t.Fatal(err)
	}
	place, err := lake.ParsePlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := stores().OpenReader(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "list.parquet")
	f, err := os.Create(list)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), r, place, "test", time.Now, listing.Options{}, f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, counts, _, _ := scan(t, Options{Source: list}, filepath.Join(dir, "t"))
	if len(got) != 1 || got[0].Name != "p=1/x" || got[0].Size != 3 || !got[0].Modified.Equal(at) || got[0].ETag == "" || counts.Rows != 1 {
		t.Errorf("%+v, %+v", got, counts)
	}
}

// Whatever store call fails, Make fails and what it wrote is no list, or the
// list is whole.
func TestMakeFailsWhole(t *testing.T) {
	for n := int64(1); ; n++ {
		m := mem.New(mem.Options{Traits: namesFirst()})
		m.Put("a", []byte("x"), written)
		m.Put("d/b", []byte("x"), written)
		faults := store.NewFaults(store.FailNth(n, store.Injection{Err: errStore}))
		var out bytes.Buffer
		_, err := Make(context.Background(), faults.Wrap(m), lake.Root{Scheme: "mem", Authority: "b", Path: "t"}, "test", now, listing.Options{Workers: 1}, &out)
		if faults.Calls() < n {
			if err != nil || n < 4 {
				t.Fatalf("%d calls, %v", n, err)
			}
			return
		}
		s := newShelf()
		s.Put("list", out.Bytes(), written)
		rows, _, readErr := s.read(t.Context(), Options{Source: "mem://shelf/list"}, "mem")
		switch {
		case err == nil && (readErr != nil || len(rows) != 2): // the listing asked again
			t.Fatalf("call %d: no error, but %v, %v", n, rows, readErr)
		case err != nil && (!errors.Is(err, errStore) || len(rows) > 0):
			t.Fatalf("call %d: %v, reading what was written: %v, %v", n, err, rows, readErr)
		}
	}
}

func namesFirst() store.Traits {
	traits := mem.Default()
	traits.NamesFirst, traits.Flat, traits.StartAfter = true, false, false
	return traits
}

// A list converted with maps shows what the list shows with the same maps.
func TestConvertMaps(t *testing.T) {
	names := []string{"s3://b/t/x", "s3://b/old/y", "s3://b/older/z", "gs://g/t/w", "/mnt/lake/t/v", "relative"}
	roots := []string{"s3://b/t", "/data/t"}
	for _, maps := range [][]Map{
		nil,
		{{From: "s3://b/old", To: "s3://b/t"}},
		{{From: "s3://b/t", To: "/data/t"}, {From: "s3://b", To: "/data/t/more"}},
		{{From: "gs://", To: "s3://"}, {From: "s3://g", To: "/data"}, {From: "/mnt/lake", To: "s3://b"}},
	} {
		s := newShelf()
		s.Put("l.csv", []byte("path,size,modified\n"+strings.Join(names, ",1,2020-01-01\n")+",1,2020-01-01\n"), written)
		shown := func(source string, maps []Map) (out []string) {
			src, err := Open(t.Context(), Options{Source: source, Stores: s, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			var places []lake.Root
			for _, root := range roots {
				place, err := lake.ParsePlace(root)
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, place)
			}
			r, err := NewResolver(places, maps)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := src.Scan(t.Context(), r, func(root int, objects []store.Info) error {
				for _, o := range objects {
					out = append(out, fmt.Sprint(root, ":", o.Name, o.Size, o.Modified))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(out)
			return out
		}
		src, err := Open(t.Context(), Options{Source: "mem://shelf/l.csv", Stores: s, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, _, err := Convert(t.Context(), src, "test", maps, &out); err != nil {
			t.Fatal(err)
		}
		s.Put("converted", out.Bytes(), written)
		if diff := cmp.Diff(shown("mem://shelf/l.csv", maps), shown("mem://shelf/converted", nil)); diff != "" {
			t.Errorf("%v: %s", maps, diff)
		}
	}
}
