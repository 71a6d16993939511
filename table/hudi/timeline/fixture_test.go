package timeline

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lakesweep/lakesweep/store/mem"
)

// hoodies loads the .hoodie folders of a fixture into stores, by their place
// in the fixture: "table/", "answer/commits/", ….
func hoodies(t *testing.T, file string) map[string]*mem.Store {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*mem.Store{}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		i := strings.Index(name, ".hoodie/")
		if i < 0 || h.Typeflag != tar.TypeReg || strings.Contains(name, "/.hoodie/metadata/") {
			continue
		}
		if out[name[:i]] == nil {
			out[name[:i]] = mem.New(mem.Options{})
		}
		data, err := io.ReadAll(tr)
		if err == nil {
			err = out[name[:i]].PutIfAbsent(t.Context(), name[i:], data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every file of every real timeline decodes, and a clean's files have the
// same content when we write them.
func TestReadsRealTimelines(t *testing.T) {
	files, err := filepath.Glob("../../../../shared/fixtures/hudi/*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Skip("no Hudi fixtures beside the project")
	}
	ctx, cleans, archived := t.Context(), 0, 0
	for _, file := range files {
		stores := hoodies(t, file)
		p, err := ReadProperties(ctx, stores["table/"], ".hoodie")
		if err != nil {
			t.Fatal(file, err)
		}
		layout, dir := Layout1, ".hoodie"
		if p["hoodie.timeline.layout.version"] == "2" {
			layout, dir = Layout2, ".hoodie/timeline"
		}
		for place, s := range stores {
			tl, err := Load(ctx, s, dir, layout)
			if err != nil || len(tl.Instants) == 0 || len(tl.Strays) > 0 {
				t.Fatal(file, place, tl, err)
			}
			for _, i := range tl.Instants {
				if err := decodeAll(t, tl, i); err != nil {
					t.Errorf("%s %s %s.%s: %v", filepath.Base(file), place, i.Time, i.Action, err)
				}
				if i.Action == Clean {
					cleans++
				}
			}
			a, err := LoadArchive(ctx, s, dir+"/history")
			if err != nil {
				t.Error(file, err)
			}
			if a.Known {
				archived += len(a.Completion)
			}
		}
	}
	if cleans < 90 || archived == 0 {
		t.Errorf("%d cleans, %d archived instants", cleans, archived)
	}
}

func decodeAll(t *testing.T, tl *Timeline, i Instant) error {
	ctx := t.Context()
	switch {
	case i.Action == Clean:
		data, err := tl.Read(ctx, i, Requested)
		if err != nil {
			return err
		}
		plan, err := DecodeCleanPlan(data)
		if err != nil {
			return err
		}
		again, err := plan.Encode()
		if err != nil {
			return err
		}
		if back, err := DecodeCleanPlan(again); err != nil || !same(back, plan) {
			t.Errorf("plan changes when written: %v", err)
		}
		if data, err = tl.Read(ctx, i, Completed); err != nil {
			return err
		}
		m, err := DecodeCleanMetadata(data)
		if err != nil {
			return err
		}
		if again, err = m.Encode(); err != nil {
			return err
		}
		if back, err := DecodeCleanMetadata(again); err != nil || !same(back, m) || m.StartTime != i.Time {
			t.Errorf("metadata changes when written: %v", err)
		}
	case i.Action == Savepoint:
		s, err := tl.Savepoint(ctx, i)
		if len(s) == 0 {
			t.Error("an empty savepoint")
		}
		return err
	case i.Action == Rollback:
		_, err := tl.RolledBack(ctx, i)
		return err
	case i.State == Completed && IsWrite(i.Action):
		data, err := tl.Read(ctx, i, Completed)
		if err != nil {
			return err
		}
		m, err := DecodeCommit(data)
		if err == nil && (m.Operation == "" || i.Action == ReplaceCommit && m.Replaced == nil || len(m.Stats) == 0 && i.Action != ReplaceCommit) {
			t.Errorf("%s: %+v", i.Time, m)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case i.Action == Compaction || i.Files[Requested] == i.Time+".compaction.requested":
		s, err := tl.Compaction(ctx, i)
		if len(s) == 0 {
			t.Error("an empty compaction plan")
		}
		return err
	case i.Action.Comparable() == ReplaceCommit:
		_, err := tl.Clustering(ctx, i)
		return err
	}
	return nil
}

func same(a, b any) bool { return cmp.Equal(a, b, cmpopts.EquateEmpty()) }
