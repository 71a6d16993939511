package sweep

import (
	"context"
	"io/fs"
	"testing"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// A file whose name Hudi might take for data keeps what it refers to, or all
// blobs where it can't be read, and a
// bootstrapped table, whose records may lie elsewhere, is refused.
func TestFilesOutsideTheGrammarKeep(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("w", "x", "y", "z")})
	w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	w.Put("p=1/odd.parquet.old", Base(t, true, m("w")...), w.Now)
	w.Put("p=1/odd.parquet", Base(t, true, m("x")...), w.Now)
	w.Put("p=1/.odd.log.1.2.3", Log(t, nil, "20260301010000000", m("y")...), w.Now)
	w.want("z")
	for _, ext := range []string{"orc", "hfile", "lance"} {
		w.Put("p=1/odd."+ext, []byte("x"), w.Now)
		if _, h := w.plan(); h.Totals.Blobs.Unreferenced != 0 || h.Totals.Blobs.Undecided != 1 || h.Totals.Blobs.Files.Unread != 1 {
			t.Errorf("%s: %+v", ext, h.Totals.Blobs)
		}
		if err := w.store.Remove(t.Context(), "p=1/odd."+ext, ""); err != nil {
			t.Fatal(err)
		}
	}
	w.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\nhoodie.bootstrap.base.path=s3\\://old/t\n"), w.Now)
	req := PlanRequest{Table: blobTable, Hudi: HudiRequest{RetainCommits: 1, Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}}}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Unsupported {
		t.Errorf("a bootstrapped table: %v", err)
	}
}

// Whichever call to the store fails, a plan fails too or is the same: nothing
// that couldn't be read is taken for empty.
func TestBlobPlanFaults(t *testing.T) {
	w := newPlannedWorld(t, "MERGE_ON_READ")
	w.Commit(g{"p=1/a": m("x", "kept"), "p=2/b": m("kept")})
	w.Delta(g{"p=2/b": m("kept too")})
	w.Commit(g{"p=1/a": m("kept too")})
	w.Commit(g{"p=1/a": nil})
	failed := 0
	for n := int64(1); ; n++ {
		struck := false
		faults := store.NewFaults(func(c store.Call) store.Injection {
			if c.N != n {
				return store.Injection{}
			}
			struck = true
			return store.Injection{Err: &lake.Error{Kind: lake.Denied, Err: fs.ErrPermission}}
		})
		e := w.engine()
		e.StateDir = t.TempDir()
		e.Stores = store.Registry{Classes: map[string]store.OpenFunc{"mem": func(_ context.Context, root lake.Root) (store.Store, error) {
			if root.Path != "t" {
				return mem.New(mem.Options{}), nil
			}
			return faults.Wrap(w.store), nil
		}}}
		req := PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: HudiRequest{RetainCommits: 1, Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}}}
		p, err := e.Plan(t.Context(), req, "")
		if err != nil {
			failed++
			continue
		}
		if b := p.Head().Totals.Blobs; b == nil || b.Unreferenced != 1 || b.Referenced != 1 {
			t.Errorf("call %d failed, and the plan says %+v", n, b)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if !struck {
			break
		}
	}
	if failed < 15 {
		t.Errorf("only %d plans failed", failed)
	}
}

// What lies in a folder that looks like another table keeps what it refers to.
func TestFoldersOfOtherTablesKeep(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x", "y", "z"), "p=2/b": m("x")})
	at := w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	w.Put("p=2/_delta_log/0.json", []byte("{}"), w.Now)
	w.Put("other/.hoodie/hoodie.properties", []byte("x"), w.Now)
	w.Put("other/deep/p=9/c-0_0-1-2_"+at+".parquet", Base(t, true, m("y")...), w.Now)
	w.want("z")
}
