package sweep

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// plannedWorld is a small Hudi table in memory that refers to blobs.
type plannedWorld struct {
	*Table
	t     *testing.T
	store *mem.Store
	state string
	typ   string
}

// newPlannedWorld is a world of table version 9.
func newPlannedWorld(t *testing.T, typ string) *plannedWorld { return newPlannedWorldOf(t, "9", typ) }

func newPlannedWorldOf(t *testing.T, version, typ string) *plannedWorld {
	w := &plannedWorld{t: t, state: t.TempDir(), typ: typ}
	w.store = mem.New(mem.Options{Now: func() time.Time { return w.Now }})
	w.Table = NewTableOf(t, version, typ, func(name string, data []byte, at time.Time) { w.store.Put(name, data, at) })
	return w
}

// open opens the table, or an empty place.
func (w *plannedWorld) open(_ context.Context, root lake.Root) (store.Store, error) {
	if root.Path != "t" {
		return mem.New(mem.Options{}), nil
	}
	return w.store, nil
}

const blobTable = "mem://lake/t"

func (w *plannedWorld) engine() *Engine {
	r := store.Registry{Classes: map[string]store.OpenFunc{"mem": w.open}}
	return &Engine{Stores: r, Now: func() time.Time { return w.Now }, Log: slog.New(slog.DiscardHandler), StateDir: w.state, Tool: "lakesweep test", Getwd: os.Getwd}
}

// plan plans with two commits retained, and returns the blobs listed.
func (w *plannedWorld) plan(change ...func(*PlanRequest)) ([]string, filelist.Head) {
	w.t.Helper()
	root, err := lake.ParsePlace("s3://media")
	if err != nil {
		w.t.Fatal(err)
	}
	req := PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: HudiRequest{RetainCommits: 1, Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{root}}}}
	for _, c := range change {
		c(&req)
	}
	p, err := w.engine().Plan(w.t.Context(), req, "")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	blobs := []string{}
	for v, err := range p.Rows() {
		if err != nil {
			w.t.Fatal(err)
		}
		if v.URI == "" {
			continue
		}
		if v.Reason != lake.ExpiredBlob || v.Size != -1 || v.Referrer == "" || !v.DueAt.Equal(w.Now.Add(24*time.Hour)) {
			w.t.Errorf("%+v", v)
		}
		blobs = append(blobs, strings.TrimPrefix(v.URI, "s3://media/"))
	}
	return blobs, p.Head()
}

func (w *plannedWorld) want(list ...string) filelist.Blobs {
	w.t.Helper()
	got, h := w.plan()
	if !slices.Equal(got, list) {
		w.t.Errorf("listed %q, want %q; %+v", got, list, h.Totals.Blobs)
	}
	if h.Totals.Blobs == nil {
		w.t.Fatal("no counts of blobs")
	}
	return *h.Totals.Blobs
}

func m(names ...string) (refs []Ref) {
	for _, n := range names {
		refs = append(refs, M("s3://media/"+n))
	}
	return refs
}

func u(name string) Ref { return Ref{Key: "u", Path: "s3://media/" + name} }

type g = map[string][]Ref

// C3, C5, example 1: a blob that another group refers to lives on; B142: with
// the last reference it goes.
func TestBlobSharedAcrossGroups(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("shared", "own"), "p=2/b": m("shared")})
	w.Commit(g{"p=1/a": m("new")})
	w.Commit(g{"p=1/a": m("new")})
	w.want("own")
	w.Commit(g{"p=2/b": nil})
	w.Commit(g{"p=2/b": nil})
	w.want("own", "shared")
}

// H1: X expires in one group; another, cleaned in the same run, retains it.
func TestH1UnionOfRetained(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x"), "p=1/b": m("y")})
	w.Commit(g{"p=1/a": m("z"), "p=1/b": m("x")})
	w.Commit(g{"p=1/a": m("z"), "p=1/b": m("x")})
	c := w.want("y")
	if c.Files.Expired != 2 || c.Referenced < 1 || len(c.Kept) == 0 || !strings.Contains(c.Kept[0].By, "p=1/b-0") {
		t.Errorf("%+v", c)
	}
}

// H2, R3, C4, B137: the newest base file lacks X, a later log of the retained
// slice has it. R2, example 7: what stood in an expired log alone is listed.
func TestH2RetainedLogs(t *testing.T) {
	w := newPlannedWorld(t, "MERGE_ON_READ")
	w.Commit(g{"p=1/a": m("x", "base")})
	w.Delta(g{"p=1/a": m("transient")})
	w.Commit(g{"p=1/a": m("y")})
	w.Delta(g{"p=1/a": m("x")})
	w.Delta(g{"p=1/a": m("y")})
	w.want("base", "transient")
}

// H3: what only history refers to lives on: an older slice of another group
// that a retained commit reads, and a base file below an updating log.
func TestH3History(t *testing.T) {
	w := newPlannedWorld(t, "MERGE_ON_READ")
	w.Commit(g{"p=1/a": m("under", "older", "gone"), "p=1/b": m("under"), "p=1/c": m("older")})
	w.Delta(g{"p=1/b": m("newer")})
	w.Commit(g{"p=1/a": m("z")})
	w.Commit(g{"p=1/a": m("z")})
	w.Commit(g{"p=1/c": m("z")})
	c := w.want("gone")
	if c.Referenced != 3 {
		t.Errorf("%+v", c)
	}
}

// C7, B144, example 5: clustering moves references to another group.
func TestReplacedGroups(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x", "dropped"), "p=1/b": m("y")})
	at := w.Begin(timeline.ReplaceCommit)
	w.Base(at, "p=1", "c", m("x", "y")...)
	w.Complete(at, timeline.ReplaceCommit, map[string][]string{"p=1": {"a", "b"}})
	w.want() // the replaced groups are retained still
	w.Commit(g{"p=2/d": m("z")})
	w.want("dropped")
}

// Unmanaged references keep, and make no candidate (B143); ranges of one file
// are one blob (B147); inline blobs have no file.
func TestManagedOnlySelects(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": append(m("managed", "now unmanaged"), u("unmanaged"), Ref{Key: "i", Inline: true})})
	w.Commit(g{"p=1/a": {u("now unmanaged")}})
	w.Commit(g{"p=1/a": {u("now unmanaged")}})
	c := w.want("managed")
	if c.Candidates != 2 {
		t.Errorf("%+v", c)
	}
}

// C2, C9: a write in flight keeps a blob from being decided dead: it is
// listed, as its last committed reference goes, and counted as pending.
func TestWritesInFlight(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x", "y")})
	w.Commit(g{"p=1/a": m("z")})
	w.Commit(g{"p=1/a": m("z")})
	at := w.Begin(timeline.Commit)
	w.Base(at, "p=9", "new", m("x")...)
	c := w.want("x", "y")
	if c.Pending != 1 || c.Unreferenced != 1 {
		t.Errorf("%+v", c)
	}
}

// H7: only below an allowed root, never in the table, never under a spelling
// that could mean another object; each is counted and named.
func TestH7Places(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	paths := []string{"s3://media/ok", "s3a://media/alias", "s3://media", "s3://media/", "s3://prod/db", "mem://lake/t/p=1/file", "mem://lake/t/.hoodie/hoodie.properties",
		"s3://media/../prod/db", "s3://media//double", "s3://media/tail/", "relative", "/local", "s3://mediax/near", "s3://media/tab\t", "gopher://media/x"}
	var refs []Ref
	for _, p := range paths {
		refs = append(refs, M(p))
	}
	w.Commit(g{"p=1/a": refs})
	w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	got, h := w.plan()
	slices.Sort(got)
	if c := h.Totals.Blobs; !slices.Equal(got, []string{"ok", "s3a://media/alias"}) || c.OutsideRoots != 2 || c.InsideTable != 3 || c.OddSpelling != int64(len(paths))-7 || c.Candidates != int64(len(paths)) {
		t.Errorf("%q %+v", got, c)
	}
}

// Only managed references out of line, in blob columns, are candidates; others
// keep blobs and let none go.
func TestOnlyManagedReferencesOutOfLineInBlobColumnsAreLetGo(t *testing.T) {
	for _, typ := range []string{"COPY_ON_WRITE", "MERGE_ON_READ"} {
		w := newPlannedWorld(t, typ)
		refs := []Ref{M("s3://media/ok"), {Key: "i", Path: "s3://media/inline", Managed: true, Inline: true},
			{Key: "p", Path: "s3://media/pic", Managed: true, Column: "pics"}, {Key: "u", Path: "s3://media/unmanaged"}}
		w.Commit(g{"p=1/a": refs})
		if typ == "MERGE_ON_READ" {
			w.Delta(g{"p=1/a": refs})
		}
		w.Commit(g{"p=1/a": nil})
		w.Commit(g{"p=1/a": nil})
		if got, h := w.plan(); !slices.Equal(got, []string{"ok"}) || h.Totals.Blobs.Candidates != 1 {
			t.Errorf("%s: %q %+v", typ, got, h.Totals.Blobs)
		}
	}
}

// A doubtful spelling keeps: schemes, escapes, slashes, case of the bucket, maps.
func TestSpellingsKeep(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("a", "b c", "d/e", "f", "g", "h"), "p=1/b": {M("s3a://media/a"), M("s3://media/b%20c"), M("s3n://media/d//e"), M("s3://MEDIA/f"), M("other://x/g")}})
	w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	got, _ := w.plan(func(r *PlanRequest) { r.Inventory.Maps = []Map{{"other://x", "s3://media"}} })
	if !slices.Equal(got, []string{"h"}) {
		t.Errorf("%q", got)
	}
}

// A torn block may be one that a writer is appending, as long as a write is
// pending; otherwise it was left by one that died.
func TestTornBlockLeavesUndecidedWhileAWriteIsPending(t *testing.T) {
	for _, pending := range []bool{false, true} {
		w := newPlannedWorld(t, "MERGE_ON_READ")
		w.Commit(g{"p=1/a": m("x"), "p=2/b": nil})
		at := w.Begin(timeline.DeltaCommit)
		log := w.Log(at, "p=2", "b", m("y")...)
		w.Complete(at, timeline.DeltaCommit, nil)
		w.Commit(g{"p=1/a": nil})
		w.Commit(g{"p=1/a": nil})
		whole := Log(t, nil, at, m("y")...)
		w.Put(log, append(Log(t, nil, at, m("y")...), whole[:len(whole)-9]...), w.Now)
		if pending {
			w.Begin(timeline.DeltaCommit)
		}
		if _, h := w.plan(); (h.Totals.Blobs.Undecided == 1) != pending || (h.Totals.Blobs.Unreferenced == 1) == pending {
			t.Errorf("pending: %t, %+v", pending, h.Totals.Blobs)
		}
	}
}

// A retained file that can't be read: blobs are listed, as their references
// go, and none is called unreferenced.
func TestUnreadFileLeavesUndecided(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x", "kept"), "p=1/b": m("kept")})
	w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	at := w.Begin(timeline.Commit)
	w.Put("p=1/torn-0_0-1-2_"+at+".parquet", []byte("torn"), w.Now)
	got, h := w.plan()
	c := h.Totals.Blobs
	if !slices.Equal(got, []string{"x"}) || c.Undecided != 1 || c.Unreferenced != 0 || c.Referenced != 1 || c.Files.Unread != 1 {
		t.Errorf("%q %+v", got, c)
	}
	if !slices.ContainsFunc(h.Evidence.Warnings, func(s string) bool { return strings.Contains(s, "torn-0") }) {
		t.Errorf("%q", h.Evidence.Warnings)
	}
}

// R5, C11: with a warm ledger only new files are opened, and the first stage
// alone where it settles every candidate.
func TestWarmLedgerReadsNewFilesOnly(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	many := g{}
	for i := range 30 {
		many[fmt.Sprintf("p=%d/g%d", i%3, i)] = m(fmt.Sprint("own", i))
	}
	many["p=1/a"] = m("x")
	w.Commit(many)
	w.Commit(g{"p=1/a": m("y")})
	w.Commit(g{"p=1/a": m("y")})
	if c := w.want("x"); c.Files.Read != 32 || c.Files.Remembered != 0 {
		t.Errorf("cold: %+v", c.Files)
	}
	w.Commit(g{"p=1/a": m("y")})
	if c := w.want("x"); c.Files.Read != 1 || c.Files.Remembered != 31 {
		t.Errorf("warm: %+v", c.Files)
	}
	w = newPlannedWorld(t, "COPY_ON_WRITE")
	many["p=1/a"] = m("x")
	w.Commit(many)
	w.Commit(g{"p=1/a": m("x")})
	w.Commit(g{"p=1/a": m("x")})
	if c := w.want(); c.Files.Groups != 2 || c.Files.Rest != 0 || c.Files.Read > 2 {
		t.Errorf("all is settled by the first stage: %+v", c.Files)
	}
}

// H4: with a limit on what one run reads, blobs are listed undecided, never
// forgotten, and the runs that follow settle them.
func TestScanLimits(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	many := g{"p=1/a": m("x")}
	for i := range 9 {
		many[fmt.Sprintf("p=1/g%d", i)] = m(fmt.Sprint("own", i))
	}
	w.Commit(many)
	w.Commit(g{"p=1/a": m("y")})
	w.Commit(g{"p=1/a": m("y")})
	for run := range 4 {
		got, h := w.plan(func(r *PlanRequest) { r.Hudi.Blobs.ScanFiles = 3 })
		c := h.Totals.Blobs
		if !slices.Equal(got, []string{"x"}) || (c.Unreferenced == 1) != (run == 3) || c.Undecided+c.Unreferenced != 1 {
			t.Errorf("run %d: %q %+v", run, got, c)
		}
		if warned := slices.ContainsFunc(h.Evidence.Warnings, func(s string) bool { return strings.Contains(s, "3 files") }); warned != (run < 3) {
			t.Errorf("run %d: %q", run, h.Evidence.Warnings)
		}
	}
}

// Hudi's keys, and what must be named.
func TestBlobWishes(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	w.Commit(g{"p=1/a": m("x")})
	w.Commit(g{"p=1/a": nil})
	w.Commit(g{"p=1/a": nil})
	config := t.TempDir() + "/clean.properties"
	if err := os.WriteFile(config, []byte("hoodie.cleaner.blob.enabled=false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, h := w.plan(func(r *PlanRequest) { r.Hudi.Config = config }); len(got) > 0 || h.Totals.Blobs != nil {
		t.Errorf("%q %+v", got, h.Totals.Blobs)
	}
	req := PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: HudiRequest{RetainCommits: 1, Blobs: BlobRequest{Mode: "plan"}}}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Invalid {
		t.Errorf("without a root: %v", err)
	}
	w.Schema = strings.ReplaceAll(Schema, `"logicalType":"blob",`, "")
	w.Commit(g{"p=1/a": nil})
	if got, _ := w.plan(); len(got) > 0 {
		t.Errorf("no column refers to blobs, and yet %q", got)
	}
	if got, _ := w.plan(func(r *PlanRequest) { r.Hudi.Blobs.Columns = []string{"img"} }); !slices.Equal(got, []string{"x"}) {
		t.Errorf("--blob-columns: %q", got)
	}
	req.Hudi.Blobs = BlobRequest{Mode: "plan", Columns: []string{"labels"}, Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Invalid {
		t.Errorf("a column that can't refer to blobs: %v", err)
	}
}
