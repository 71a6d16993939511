package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/local"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// blobWorld is a copy-on-write table of version 6 on disk whose records refer
// to blobs in a folder beside it, spelled s3://media/NAME, its clock and its
// oracle: what every file refers to.
type blobWorld struct {
	t      fataler
	tb     testing.TB // makes files
	dir    string
	clock  *sync.Mutex // guards now
	now    time.Time
	state  string
	refs   map[string][]string // file, relative to the table → blobs
	faults *store.Faults
	schema string
	shape  tableShape
}

// fataler is what tests and rapid's share.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newBlobWorld(t fataler, tb testing.TB) *blobWorld {
	dir := tb.TempDir()
	w := &blobWorld{t: t, tb: tb, dir: dir, clock: new(sync.Mutex), state: filepath.Join(dir, "state"), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), refs: map[string][]string{}, schema: blobtest.Schema, shape: tableShapes[0]}
	w.put("table/.hoodie/hoodie.properties", "hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\n")
	w.put("blobs/.keep", "")
	w.partition("1")
	w.partition("2")
	return w
}

// tableShape is how a table is partitioned. Groups whose names begin with 1 lie
// in the first folder, those with 2 in the second.
type tableShape struct{ fields, first, second string }

var tableShapes = []tableShape{
	{"p", "p=1", "p=2"},
	{"p", "p=1", "p=2"},
	{"", "", ""},
	{"a,b", "a=1/b=x", "a=1/b=y"},
	{"day", "2026/02/28", "2026/03/01"},
}

// partition makes the folder of a group's partition one, as writers do before
// their first file.
func (w *blobWorld) partition(group string) {
	w.t.Helper()
	p, depth := w.partitionOf(group), 0
	if p != "" {
		depth = 1 + strings.Count(p, "/")
	}
	if name := "table/" + path.Join(p, ".hoodie_partition_metadata"); len(w.files(name)) == 0 {
		w.put(name, fmt.Sprintf("commitTime=1\npartitionDepth=%d\n", depth))
	}
}

// shaped makes the table, which is empty yet, one of another shape.
func (w *blobWorld) shaped(s tableShape) {
	w.t.Helper()
	for _, p := range []string{"1", "2"} {
		w.remove("table/" + path.Join(w.partitionOf(p), ".hoodie_partition_metadata"))
	}
	w.shape = s
	w.partition("1")
	w.partition("2")
}

func (w *blobWorld) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// put writes a file as of now.
func (w *blobWorld) put(name, text string) {
	w.t.Helper()
	p := w.path(name)
	err := os.MkdirAll(filepath.Dir(p), 0o755)
	if err == nil {
		err = os.WriteFile(p, []byte(text), 0o644)
	}
	if err == nil {
		err = os.Chtimes(p, w.now, w.now)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *blobWorld) upload(names ...string) {
	w.t.Helper()
	for _, n := range names {
		w.put("blobs/"+n, n)
	}
}

func (w *blobWorld) there(name string) bool {
	_, err := os.Stat(w.path("blobs/" + name))
	return err == nil
}

// blobs returns which blobs are there.
func (w *blobWorld) blobs() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.path("blobs"))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return strings.Join(out, " ")
}

func spelled(name string) string { return "s3://media/" + name }

// objectOf is the blob that a spelling may mean.
func objectOf(spelling string) string {
	name, err := url.PathUnescape(path.Base(spelling))
	if err != nil {
		return spelling
	}
	return name
}

// pass lets hours go by.
func (w *blobWorld) pass(hours int) { w.tick(time.Duration(hours) * time.Hour) }

// tick lets time go by, for those too who run beside the one that calls it.
func (w *blobWorld) tick(d time.Duration) {
	w.clock.Lock()
	defer w.clock.Unlock()
	w.now = w.now.Add(d)
}

func (w *blobWorld) time() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.now
}

// begin starts a write an hour later.
func (w *blobWorld) begin() string {
	w.pass(1)
	at := timeline.FormatTime(w.now, time.UTC)
	for _, name := range w.pending(at) {
		w.put(name, "")
	}
	return at
}

// pending returns the files of a write in flight.
func (w *blobWorld) pending(at string) []string {
	return []string{"table/.hoodie/" + at + ".commit.requested", "table/.hoodie/" + at + ".inflight"}
}

// file writes a base file of a write: the records of a group.
func (w *blobWorld) file(at, group string, names ...string) string {
	w.t.Helper()
	var records []blobtest.Ref
	for _, n := range names {
		records = append(records, blobtest.M(spelled(n)))
	}
	return w.records(at, group, records...)
}

// partitionOf is the partition of a group: its path, "" of an unpartitioned table.
func (w *blobWorld) partitionOf(group string) string {
	if group[0] == '1' {
		return w.shape.first
	}
	return w.shape.second
}

// partitionIn is the partition of a file of the table.
func partitionIn(file string) string {
	return strings.TrimSuffix(file[:len(file)-len(path.Base(file))], "/")
}

func (w *blobWorld) records(at, group string, records ...blobtest.Ref) string {
	w.t.Helper()
	name := path.Join(w.partitionOf(group), fmt.Sprintf("%s-0_0-1-2_%s.parquet", group, at))
	w.put("table/"+name, string(blobtest.Base(w.tb, true, records...)))
	var names []string
	for _, r := range records {
		if r.Path != "" && !r.Inline {
			names = append(names, strings.TrimPrefix(r.Path, spelled("")))
		}
	}
	w.refs[name] = names
	return name
}

// complete completes a write of files; replaced groups are of p=1.
func (w *blobWorld) complete(at string, files []string, replaced ...string) {
	w.t.Helper()
	stats := map[string][]map[string]any{}
	for _, f := range files {
		p, base := filepath.Split(f)
		group, _, _ := strings.Cut(strings.TrimPrefix(base, "."), "_")
		stats[strings.TrimSuffix(p, "/")] = append(stats[strings.TrimSuffix(p, "/")], map[string]any{"fileId": group, "path": f, "prevCommit": "x"})
	}
	meta := map[string]any{"partitionToWriteStats": stats, "operationType": "UPSERT", "extraMetadata": map[string]string{"schema": w.schema}}
	action := "commit"
	if len(replaced) > 0 {
		action = "replacecommit"
		meta["partitionToReplaceFileIds"] = map[string][]string{"p=1": replaced}
		meta["operationType"] = "INSERT_OVERWRITE"
	}
	data, err := json.Marshal(meta)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put("table/.hoodie/"+at+"."+action, string(data))
}

// commit writes one base file for each group.
func (w *blobWorld) commit(groups map[string][]string) string {
	w.t.Helper()
	at := w.begin()
	var files []string
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		files = append(files, w.file(at, g, groups[g]...))
	}
	w.complete(at, files)
	return at
}

func (w *blobWorld) engine() *Engine {
	r := store.Registry{Classes: map[string]store.OpenFunc{"file": local.Open}}
	if faults := w.faults; faults != nil {
		r.Wrap = func(_ lake.Root, s store.Store) store.Store { return faults.Wrap(s) }
	}
	e := &Engine{Stores: r, Now: w.time, Log: slog.New(slog.DiscardHandler), StateDir: w.state, Tool: "lakesweep test", Getwd: os.Getwd}
	e.sleep = func(_ context.Context, d time.Duration) error { // the world's time, not ours
		w.tick(d)
		return nil
	}
	return e
}

func (w *blobWorld) table() string { return w.path("table") }

// request cleans with blobs: two commits are kept, as by default blobs wait for a day.
func (w *blobWorld) request() PlanRequest {
	grace, minAge := 24*time.Hour, time.Duration(0)
	return PlanRequest{Table: w.table(), Unsafe: Unsafe{MostlyDead: w.table()},
		Inventory: InventoryRequest{Maps: []Map{{From: "s3://media/", To: "file://" + w.path("blobs") + "/"}}},
		Hudi: HudiRequest{RetainCommits: 1, NoOtherWriters: true,
			Blobs: BlobRequest{Mode: "delete", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}, Grace: &grace, MinAge: &minAge}}}
}

// clean plans and applies.
func (w *blobWorld) clean(req PlanRequest) (Result, error) {
	w.t.Helper()
	return w.cleanBy(req, ApplyRequest{})
}

// cleanBy plans, and applies as asked.
func (w *blobWorld) cleanBy(req PlanRequest, apply ApplyRequest) (Result, error) {
	w.t.Helper()
	ctx := context.Background()
	p, err := w.engine().Plan(ctx, req, "")
	if err != nil {
		return Result{}, err
	}
	defer p.Close() //nolint:errcheck // a temporary file
	defer w.date()
	return w.engine().Apply(ctx, p, apply, nil)
}

// date gives what a run wrote the world's time.
func (w *blobWorld) date() {
	err := filepath.Walk(w.path("table/.hoodie"), func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || !info.ModTime().After(w.now) {
			return err
		}
		return os.Chtimes(p, w.now, w.now)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// mustClean cleans and wants no error.
func (w *blobWorld) mustClean() Result {
	w.t.Helper()
	r, err := w.clean(w.request())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *blobWorld) queued() string {
	w.t.Helper()
	var out []string
	for _, e := range w.entries() {
		out = append(out, strings.TrimPrefix(e.Path, spelled("")))
	}
	return strings.Join(out, " ")
}

// entries is what the table's queue holds.
func (w *blobWorld) entries() (out []blobqueue.Entry) {
	w.t.Helper()
	root, err := lake.ParseRoot(w.table())
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := local.Open(context.Background(), root)
	if err != nil {
		w.t.Fatal(err)
	}
	snap, err := blobqueue.New(s, nil, nil, blobqueue.Tuning{}).Load(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for e, err := range snap.Entries(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// check fails if a blob that a file of the table refers to isn't there, but for
// some files.
func (w *blobWorld) check(but ...string) {
	w.t.Helper()
	for f, names := range w.refs {
		if _, err := os.Stat(w.path("table/" + f)); err != nil || slices.Contains(but, f) {
			continue
		}
		for _, n := range names {
			if !w.there(n) {
				w.t.Fatalf("%s is gone, and %s refers to it", n, f)
			}
		}
	}
}

// files returns what lies in a folder, by glob.
func (w *blobWorld) files(pattern string) []string {
	w.t.Helper()
	found, err := filepath.Glob(w.path(pattern))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// lastClean returns the metadata of the newest completed clean.
func (w *blobWorld) lastClean() timeline.CleanMetadata {
	w.t.Helper()
	names := w.files("table/.hoodie/*.clean")
	if len(names) == 0 {
		w.t.Fatal("no completed clean")
	}
	data, err := os.ReadFile(w.path("table/.hoodie/" + names[len(names)-1]))
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := timeline.DecodeCleanMetadata(data)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}
