package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/sweep/internal/blobs"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// A write that comes between the judgement and the intent, and that the second
// look can't ask: what it may refer to stays.
func TestWritesThatCantBeAskedKeepBlobs(t *testing.T) {
	const archived, upgraded = "archived with all before it", "on a timeline that an upgrade has moved"
	for name, do := range map[string]func(w *blobWorld, inflight string){
		archived: func(w *blobWorld, _ string) {
			at := w.begin()
			f := w.file(at, "2c", "X")
			w.complete(at, []string{f})
			for _, old := range w.files("table/.hoodie/2*") {
				if err := os.Remove(w.path("table/.hoodie/" + old)); err != nil {
					w.t.Fatal(err)
				}
			}
			w.commit(map[string][]string{"2d": {"Y"}})
		},
		"in flight at the judgement, gone now": func(w *blobWorld, inflight string) {
			for _, name := range w.pending(inflight) {
				if err := os.Remove(w.path(name)); err != nil {
					w.t.Fatal(err)
				}
			}
			w.file(inflight, "2c", "X")
		},
		"its commit is still empty": func(w *blobWorld, inflight string) {
			w.file(inflight, "2c", "X")
			w.put("table/.hoodie/"+inflight+".commit", "")
		},
		"its file isn't where the commit says": func(w *blobWorld, inflight string) {
			f := w.file(inflight, "2c", "X")
			w.complete(inflight, []string{strings.Replace(f, "p=2", "p=3", 1)})
		},
		upgraded: func(w *blobWorld, _ string) {
			at := w.begin()
			w.complete(at, []string{w.file(at, "2c", "X")})
			for _, old := range w.files("table/.hoodie/2*") {
				w.put("table/.hoodie/timeline/"+old, "")
				if err := os.Rename(w.path("table/.hoodie/"+old), w.path("table/.hoodie/timeline/"+old)); err != nil {
					w.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := expired(t)
			w.mustClean()
			w.pass(30)
			inflight := ""
			if name != archived && name != upgraded { // whose own write is all that is to tell
				inflight = w.begin()
			}
			_, err := w.during(w.request(), ends("create", ".blob_drain.parquet"), func() { do(w, inflight) })
			if !w.there("X") {
				t.Errorf("X is gone; %v", err)
			}
		})
	}
}

// A commit between the judgement and the intent refers to what its logs of
// changes do, too.
func TestLogsOfChangesOfALateCommitKeep(t *testing.T) {
	w := expired(t)
	w.mustClean()
	w.pass(30)
	if _, err := w.during(w.request(), ends("create", ".blob_drain.parquet"), func() {
		at := w.begin()
		f, log := w.file(at, "2c", "Y"), "p=2/.2c-0_"+at+".log.1_0-1-2.cdc"
		w.put("table/"+log, string(blobtest.CDC(t, nil, at, blobtest.M(spelled("X")))))
		w.put("table/.hoodie/"+at+".commit", `{"partitionToWriteStats":{"p=2":[{"fileId":"2c-0","path":"`+f+`","prevCommit":"null","cdcStats":{"`+log+`":1}}]},"operationType":"UPSERT"}`)
	}); err != nil || !w.there("X") {
		t.Errorf("X is there: %t; %v", w.there("X"), err)
	}
}

// While blobs are judged a write begins: they are judged once more, by the table
// as it is then.
func TestAWriteThatBeginsWhileBlobsAreJudged(t *testing.T) {
	for refers, left := range map[string]string{"X": "X Y Z", "Y": "Y Z"} {
		t.Run(refers, func(t *testing.T) {
			w := expired(t)
			w.mustClean()
			w.pass(30)
			if err := os.RemoveAll(w.state); err != nil { // so that files are read
				t.Fatal(err)
			}
			reads := func(c store.Call) bool { return c.Op == "open" && strings.HasPrefix(c.Name, "p=2/") }
			if _, err := w.during(w.request(), reads, func() { w.file(w.begin(), "2c", refers) }); err != nil || w.blobs() != left {
				t.Errorf("left %q, %v", w.blobs(), err)
			}
		})
	}
}

// Partitions within partitions, and behind symlinks, are part of the table.
func TestEveryFolderOfATableKeepsBlobs(t *testing.T) {
	move := func(w *blobWorld, to string) {
		if err := os.MkdirAll(filepath.Dir(w.path(to)), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Rename(w.path("table/p=2"), w.path(to)); err != nil {
			w.t.Fatal(err)
		}
	}
	for name, do := range map[string]func(w *blobWorld){
		"within a partition": func(w *blobWorld) { move(w, "table/p=1/p=2") },
		"behind a symlink": func(w *blobWorld) {
			move(w, "elsewhere/p=2")
			if err := os.Symlink(w.path("elsewhere/p=2"), w.path("table/p=2")); err != nil {
				w.t.Fatal(err)
			}
		},
		"a log that is a symlink": func(w *blobWorld) {
			at := strings.TrimSuffix(strings.TrimPrefix(w.files("table/p=2/2c-0_*")[0], "2c-0_0-1-2_"), ".parquet")
			w.file(at, "2c", "Y")
			w.put("table/objects/1", string(blobtest.Log(w.tb, nil, at, blobtest.M(spelled("X")))))
			if err := os.Symlink("../objects/1", w.path("table/p=2/.2c-0_"+at+".log.1_0-1-2")); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := expired(t)
			w.commit(map[string][]string{"2c": {"X"}, "1a": {"Y"}})
			do(w)
			for range 3 {
				if _, err := w.clean(w.request()); err != nil && lake.KindOf(err) != lake.Partial {
					t.Logf("%v", err)
				}
				w.pass(30)
				w.commit(map[string][]string{"1a": {"Y"}})
			}
			if !w.there("X") {
				t.Error("X is gone")
			}
		})
	}
}

// A folder that is reached through a symlink has two names.
func TestABlobRootBehindASymlinkIsRefused(t *testing.T) {
	w := expired(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.path("blobs"), link); err != nil {
		t.Fatal(err)
	}
	req := w.request()
	root, err := lake.ParsePlace(link)
	if err != nil {
		t.Fatal(err)
	}
	req.Hudi.Blobs.Roots = []lake.Root{root}
	refused := func(does string, err error) {
		t.Helper()
		if lake.KindOf(err) != lake.Invalid || !strings.Contains(lake.HintOf(err), "--map file://"+link+"=file://"+w.path("blobs")) {
			t.Errorf("%s: %v, %s", does, err, lake.HintOf(err))
		}
	}
	_, err = w.engine().Plan(t.Context(), req, "")
	refused("planning", err)
	for _, err := range w.engine().Verify(t.Context(), req) {
		refused("verify", err)
	}
}

// A table is the one that --also-references named when it was planned, from
// wherever the plan is carried out.
func TestAlsoReferencesIsNoRelativeName(t *testing.T) {
	w, other := expired(t), expired(t)
	req := w.request()
	req.Hudi.Blobs.Also = []string{"table"}
	t.Chdir(other.dir)
	p, err := w.engine().Plan(t.Context(), req, "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a temporary file
	h := p.Head()
	s, err := blobs.ReadState(&h)
	if err != nil || len(s.Also) != 1 || s.Also[0] != other.table() {
		t.Errorf("%+v, %v", s, err)
	}
	req.Hudi.Blobs.Also = []string{"elsewhere"}
	if _, err := w.engine().Plan(t.Context(), req, ""); err == nil {
		t.Error("a table that isn't there")
	}
}

// Blob roots that lie in each other are known to both tables.
func TestRootsWithinRoots(t *testing.T) {
	claimed := `{"schema":1,"tables":[{"table":"s3://lake/other","table_id":"o","since":"2026-01-01T00:00:00Z"}]}`
	for name, marker := range map[string]string{"above": lake.ClaimName, "between": "blobs/sub/" + lake.ClaimName, "beside the blob": "blobs/sub/deep/" + lake.ClaimName} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("sub/deep/X", "Y")
			w.pass(72)
			w.commit(map[string][]string{"1a": {"sub/deep/X"}})
			w.commit(map[string][]string{"1a": {"Y"}})
			w.commit(map[string][]string{"1a": {"Y"}})
			w.put(marker, claimed)
			_, err := w.clean(w.request())
			w.pass(30)
			w.commit(map[string][]string{"1a": {"Y"}})
			r, later := w.clean(w.request())
			if !w.there("sub/deep/X") || err == nil && later == nil && r.Failed == 0 {
				t.Errorf("there: %v; %v; %+v, %v", w.there("sub/deep/X"), err, r, later)
			}
		})
	}
}

// The writes of a table that shares blobs keep them as the table's own do; that
// one is named makes no other known.
func TestWritesOfATableThatSharesBlobsKeep(t *testing.T) {
	shared := func() (w, other *blobWorld, req PlanRequest) {
		w, other = expired(t), newBlobWorld(t, t)
		other.now = w.now
		other.commit(map[string][]string{"1a": {"Y"}})
		req = w.request()
		req.Hudi.Blobs.Also = []string{other.table()}
		return w, other, req
	}
	for name, clock := range map[string]time.Duration{"": time.Minute, ", by a clock that is ahead of ours": -time.Minute} {
		t.Run("in flight as they are queued"+name, func(t *testing.T) {
			w, other, req := shared()
			other.begin()
			w.now = other.now.Add(clock)
			for range 2 {
				if _, err := w.clean(req); err != nil || !w.there("X") || w.queued() != "X" {
					t.Fatalf("there: %t, queued %q, %v", w.there("X"), w.queued(), err)
				}
				w.pass(30)
			}
		})
	}
	t.Run("complete between the judgement and the intent", func(t *testing.T) {
		w, other, req := shared()
		if _, err := w.clean(req); err != nil {
			t.Fatal(err)
		}
		w.pass(30)
		if _, err := w.during(req, ends("create", ".blob_drain.parquet"), func() { other.commit(map[string][]string{"2b": {"X"}}) }); err != nil || !w.there("X") {
			t.Errorf("there: %t, %v", w.there("X"), err)
		}
	})
	t.Run("another table has claimed the root", func(t *testing.T) {
		w, _, req := shared()
		w.put("blobs/"+lake.ClaimName, `{"schema":1,"tables":[{"table":"s3://lake/third","table_id":"o","since":"2026-01-01T00:00:00Z"}]}`)
		if _, err := w.clean(req); lake.KindOf(err) != lake.Refused || w.queued() != "" {
			t.Errorf("queued %q, %v", w.queued(), err)
		}
	})
}

// A write is told nothing of a file that can't be read.
func TestCheckCommitOfAFileThatCantBeRead(t *testing.T) {
	w := expired(t)
	w.put("table/p=2/torn-0_0-1-2_20260301120000000.parquet", "torn")
	if c, err := w.engine().CheckCommit(t.Context(), CheckRequest{Plan: PlanRequest{Table: w.table()}, Files: []string{"p=2/torn-0_0-1-2_20260301120000000.parquet"}}); lake.KindOf(err) != lake.Damaged {
		t.Errorf("%+v, %v", c, err)
	}
}

// The records of a bootstrapped table may lie in files outside of it: one that
// shares blobs can't be asked what it refers to.
func TestABootstrappedTableThatSharesBlobsIsRefused(t *testing.T) {
	w, other := expired(t), newBlobWorld(t, t)
	other.put("table/.hoodie/hoodie.properties", "hoodie.table.name=other\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\nhoodie.bootstrap.base.path=/old/t\n")
	req := w.request()
	req.Hudi.Blobs.Also = []string{other.table()}
	for range 2 {
		if _, err := w.clean(req); lake.KindOf(err) != lake.Unsupported {
			t.Errorf("%v", err)
		}
		w.pass(30)
	}
	if w.blobs() != "X Y Z" || w.queued() != "" {
		t.Errorf("left %q, queued %q", w.blobs(), w.queued())
	}
}

// A blob behind a symlink below its root has another name, by which files may
// refer to it.
func TestABlobBehindASymlinkStays(t *testing.T) {
	for name, c := range map[string]struct{ real, link string }{
		"that leads out of the root":   {"elsewhere", "../elsewhere"},
		"that leads within the root":   {"blobs/real", "real"},
		"that leads there by its path": {"blobs/real", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			if c.link == "" {
				c.link = w.path(c.real)
			}
			w.put(c.real+"/X", "X")
			if err := os.Symlink(c.link, w.path("blobs/sub")); err != nil {
				t.Fatal(err)
			}
			w.upload("Y")
			w.pass(72)
			for _, b := range []string{"sub/X", "Y", "Y"} {
				w.commit(map[string][]string{"1a": {b}, "2b": {"real/X"}})
			}
			w.mustClean()
			w.pass(30)
			if r, err := w.clean(w.request()); err != nil || r.Failed != 1 || !w.there("sub/X") || w.queued() != "sub/X" {
				t.Errorf("%+v, %v, queued %q", r, err, w.queued())
			}
		})
	}
}

// What lies in a table that --also-references names is no blob, by whichever of
// its names: here the table is named by a link, and its file by where that leads.
func TestFilesOfATableThatIsNamedByALinkAreNoBlobs(t *testing.T) {
	for name, queued := range map[string]string{"to be queued": "", "queued before it was named": "other/p=1/X"} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.put("blobs/other/.hoodie/hoodie.properties", "hoodie.table.name=other\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.table.timeline.timezone=UTC\n")
			if err := os.Symlink(w.path("blobs/other"), w.path("link")); err != nil {
				t.Fatal(err)
			}
			w.upload("other/p=1/X", "Y")
			w.pass(72)
			for _, b := range []string{"other/p=1/X", "Y", "Y"} {
				w.commit(map[string][]string{"1a": {b}})
			}
			if queued != "" {
				w.mustClean()
				w.pass(30)
			}
			req := w.request()
			req.Hudi.Blobs.Also = []string{w.path("link")}
			for range 2 {
				if _, err := w.clean(req); err != nil || !w.there("other/p=1/X") || w.queued() != queued {
					t.Fatalf("there: %t, queued %q, %v", w.there("other/p=1/X"), w.queued(), err)
				}
				w.pass(30)
			}
		})
	}
}
