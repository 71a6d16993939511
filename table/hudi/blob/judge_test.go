package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blob/shape"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

func (w *world) judge(candidates ...lake.BlobID) *blob.Round {
	w.t.Helper()
	r, err := blob.NewJudge(w.o).Judge(w.t.Context(), seq(candidates...), seq(w.files...))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) opens() int64 { return w.meter.Usage().Open.Requests }

// The fates, and what keeps: the union of all files that stay, whoever manages
// the reference, whatever its offset (B142, B143, B147).
func TestFates(t *testing.T) {
	w := newWorld(t)
	base := w.add(Base(t, true, M("s3://media/base"), Ref{Key: "u", Path: "s3://media/unmanaged"}), "")
	log := w.add(Log(t, nil, "1", M("s3://media/log")), ".log.1_0-1-2")
	w.add(Log(t, Log(t, nil, "1", M("s3://media/both")), "19", M("s3://media/pending"), M("s3://media/both")), ".log.1_0-1-2")
	inflight := w.add(Base(t, true, M("s3://media/inflight"), M("s3://media/base")), "")
	inflight.Inflight = true
	w.add(CDC(t, nil, "1", M("s3://media/cdc")), ".log.1_0-1-2.cdc")
	r := w.judge("s3://media/base", "s3://media/unmanaged", "s3://media/log", "s3://media/pending", "s3://media/inflight", "s3://media/cdc", "s3://media/both", "s3://media/nobody")
	for path, want := range map[lake.BlobID]blob.Finding{
		"s3://media/base":      {Fate: blob.Referenced, By: base.Key},
		"s3://media/unmanaged": {Fate: blob.Referenced, By: base.Key},
		"s3://media/log":       {Fate: blob.Referenced, By: log.Key},
		"s3://media/pending":   {Fate: blob.Pending, By: w.files[2].Key},
		"s3://media/inflight":  {Fate: blob.Pending, By: inflight.Key},
		"s3://media/cdc":       {Fate: blob.Referenced, By: w.files[4].Key},
		"s3://media/both":      {Fate: blob.Referenced, By: w.files[2].Key},
		"s3://media/nobody":    {Fate: blob.Unreferenced},
	} {
		if got := r.Of(path); got.Fate != want.Fate || got.By != want.By {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	if got := r.Of("s3://media/never asked"); got.Fate != blob.Undecided {
		t.Errorf("another blob: %+v", got)
	}
}

// A context that ends before the files are begun is an error, not a round in
// which nothing refers to anything: the time under the lock may be over by then.
func TestAContextThatEndsDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.add(Base(t, true, M("s3://media/a")), "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	candidates := func(yield func(lake.BlobID, error) bool) {
		cancel() // while they are entered
		yield("s3://media/a", nil)
	}
	if r, err := blob.NewJudge(w.o).Judge(ctx, candidates, seq(w.files...)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: a blob that a file refers to is %s", err, r.Of("s3://media/a").Fate)
	}
	n := 0
	emit := func(blob.File, shape.Reference, bool) error { n++; return nil }
	err := blob.References(ctx, w.o, nil, seq(w.files...), emit, func(blob.File, error) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v: %d references of a file that has one", err, n)
	}
}

// One file that can't be read, and nothing dies in that round: what others
// keep is settled all the same.
func TestOneUnreadFileDecidesNothing(t *testing.T) {
	torn := Log(t, nil, "1", M("s3://media/b"))
	for name, spoil := range map[string]func(*world){
		"damaged":         func(w *world) { w.add([]byte("no Parquet"), "") },
		"missing":         func(w *world) { w.add(Base(t, true), "").Missing = true },
		"deleted":         func(w *world) { w.files = append(w.files, w.files[0]); w.files[1].Key = "p=1/gone" },
		"torn, in flight": func(w *world) { w.o.Writing = true; w.add(torn[:len(torn)-9], ".log.1_0-1-2") },
		"HFile":           func(w *world) { w.add(Base(t, true), "").Ext = "hfile" },
		"torn, its write": func(w *world) { w.add(torn[:len(torn)-9], ".log.1_0-1-2").Inflight = true },
		"shorter":         func(w *world) { w.add(torn, ".log.1_0-1-2").Size += 9 },
		"large, shorter":  func(w *world) { w.add(torn, ".log.1_0-1-2").Size = 17 << 20 },
	} {
		w := newWorld(t)
		w.add(Base(t, true, M("s3://media/a")), "")
		spoil(w)
		r := w.judge("s3://media/a", "s3://media/x")
		if a, b := r.Of("s3://media/a"), r.Of("s3://media/x"); a.Fate != blob.Referenced || b.Fate != blob.Undecided || r.UnreadFiles != 1 || len(r.Unread) != 1 || r.Decided() {
			t.Errorf("%s: %+v %+v %+v", name, a, b, r)
		}
	}
	w := newWorld(t)
	w.add(torn[:len(torn)-9], ".log.1_0-1-2")
	if r := w.judge("s3://media/b"); r.Of("s3://media/b").Fate != blob.Unreferenced {
		t.Errorf("a block that was torn long ago counts: %+v", r)
	}
}

// Errors of the store end the round: none is taken for an empty file.
func TestStoreErrorsEndTheRound(t *testing.T) {
	w := newWorld(t)
	w.add(Base(t, true, M("s3://media/a")), "")
	w.add(Log(t, nil, "1", M("s3://media/b")), ".log.1_0-1-2")
	for n := range 2 {
		left := int64(n + 1)
		w.o.Reader, w.o.Workers = failing{w.store, &left}, 1
		if _, err := blob.NewJudge(w.o).Judge(t.Context(), seq[lake.BlobID]("s3://media/x"), seq(w.files...)); lake.KindOf(err) != lake.Transient {
			t.Errorf("%v", err)
		}
	}
}

var errBroken = &lake.Error{Kind: lake.Transient, Err: errors.New("broken")}

// failing fails the n-th Open.
type failing struct {
	store.Reader
	n *int64
}

func (f failing) Open(ctx context.Context, name string, off, length int64) (io.ReadCloser, error) {
	if *f.n--; *f.n == 0 {
		return nil, errBroken
	}
	return f.Reader.Open(ctx, name, off, length)
}

// Nothing is read once every candidate is settled, and nothing without one.
func TestEarlyExit(t *testing.T) {
	w := newWorld(t)
	w.o.Workers = 1
	for range 20 {
		w.add(Base(t, true, M("s3://media/a")), "")
	}
	if r := w.judge("s3://media/a"); r.Skipped < 15 || r.Read > 5 || r.Files != 20 {
		t.Errorf("%+v", r)
	}
	before := w.opens()
	if w.judge(); w.opens() != before {
		t.Errorf("%d requests for no candidate", w.opens()-before)
	}
	called := false
	second := func(func(blob.File, error) bool) { called = true }
	if _, err := blob.NewJudge(w.o).Judge(t.Context(), seq[lake.BlobID]("s3://media/a"), seq(w.files...), second); err != nil || called {
		t.Errorf("the second stage was begun: %t, %v", called, err)
	}
}

// A limit leaves the rest undecided, and the ledger lets the next round go on (H4).
func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
	for i := range 5 {
		w.add(Base(t, true, M(fmt.Sprintf("s3://media/%d", i))), "")
	}
	w.o.MaxFiles = 2
	for round := range 3 {
		r := w.judge("s3://media/nobody")
		want := blob.Undecided
		if round == 2 {
			want = blob.Unreferenced
		}
		if got := r.Of("s3://media/nobody").Fate; got != want || (r.Limit == "") != (round == 2) {
			t.Errorf("round %d: %v, %+v", round, got, r)
		}
	}
	w.o.Ledger, w.o.MaxFiles, w.o.MaxBytes = nil, 0, 1
	if r := w.judge("s3://media/nobody"); r.Read != 1 || r.Limit == "" || r.Of("s3://media/nobody").Fate != blob.Undecided {
		t.Errorf("%+v", r)
	}
}

// With a warm ledger no file is opened, whatever the candidates; a file that
// changed is, and so is every file under other rules.
func TestLedger(t *testing.T) {
	dir, root := t.TempDir(), lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}
	w := newWorld(t)
	w.o.Ledger = blob.OpenLedger(dir, "t", root)
	w.add(Base(t, true, M("s3://media/a"), M("s3://media/b")), "")
	w.add(Log(t, nil, "1", M("s3://media/c")), ".log.1_0-1-2")
	w.add(Log(t, nil, "9", M("s3://media/d")), ".log.1_0-1-2") // may be rolled back, or complete: not remembered
	w.judge("s3://media/x")
	before := w.opens()
	r := w.judge("s3://media/b", "s3a://MEDIA/c", "s3://media/nobody")
	if r.Remembered != 2 || w.opens() != before+1 {
		t.Errorf("%d requests, %+v", w.opens()-before, r)
	}
	if r.Of("s3://media/b").By != w.files[0].Key || r.Of("s3a://MEDIA/c").By != w.files[1].Key || r.Of("s3://media/nobody").Fate != blob.Unreferenced {
		t.Errorf("%+v %+v", r.Of("s3://media/b"), r.Of("s3a://MEDIA/c"))
	}
	w.store.Put(string(w.files[0].Key), Base(t, true, M("s3://media/new")), w.files[0].Modified)
	w.files[0].Size++
	w.files[0].Size = int64(len(Base(t, true, M("s3://media/new"))))
	if r := w.judge("s3://media/new"); r.Of("s3://media/new").Fate != blob.Referenced {
		t.Errorf("a file of another size was taken from the ledger: %+v", r)
	}
	other := newWorld(t, lake.BlobMap{From: "s3://old/", To: "s3://media/"})
	other.o.Ledger, other.store, other.files = w.o.Ledger, w.store, w.files
	other.o.Reader = other.meter.Wrap(w.store)
	if r := other.judge("s3://old/c"); r.Remembered != 0 || r.Of("s3://old/c").Fate != blob.Referenced {
		t.Errorf("a ledger made under other rules was used: %+v", r)
	}
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}

// What the ledger remembers is of this very file of this very table, written to
// its end: of any other, where a file has the same bytes otherwise, it says nothing.
func TestLedgerKnowsAFileByAllThatMakesIt(t *testing.T) {
	root := lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}
	for name, c := range map[string]struct {
		before, after func(w *world, f *blob.File, dir string)
		want          blob.Fate // of what the file has come to refer to
	}{
		"the same":  {want: blob.Unreferenced},
		"partition": {after: func(_ *world, f *blob.File, _ string) { f.Partition = "p=2" }, want: blob.Referenced},
		"name":      {after: func(_ *world, f *blob.File, _ string) { f.Name = "other" + f.Name }, want: blob.Referenced},
		"time":      {after: func(_ *world, f *blob.File, _ string) { f.Modified = f.Modified.Add(1) }, want: blob.Referenced},
		"ETag": {before: func(_ *world, f *blob.File, _ string) { f.ETag = "a" },
			after: func(_ *world, f *blob.File, _ string) { f.ETag = "b" }, want: blob.Referenced},
		"neither ETag nor time": {before: func(_ *world, f *blob.File, _ string) { f.Modified = time.Time{} }, want: blob.Referenced},
		"table":                 {after: func(w *world, _ *blob.File, dir string) { w.o.Ledger = blob.OpenLedger(dir, "u", root) }, want: blob.Referenced},
		"root": {after: func(w *world, _ *blob.File, dir string) {
			w.o.Ledger = blob.OpenLedger(dir, "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "u"})
		}, want: blob.Referenced},
		"it was in flight": {before: func(_ *world, f *blob.File, _ string) { f.Inflight = true },
			after: func(_ *world, f *blob.File, _ string) { f.Inflight = false }, want: blob.Referenced},
	} {
		w, dir := newWorld(t), t.TempDir()
		w.o.Ledger = blob.OpenLedger(dir, "t", root)
		f := w.add(Base(t, true, M("s3://media/a")), "")
		if c.before != nil {
			c.before(w, f, dir)
		}
		w.judge("s3://media/x")
		anew := Base(t, true, M("s3://media/b"))
		if int64(len(anew)) != f.Size {
			t.Fatalf("%d bytes, not %d", len(anew), f.Size)
		}
		w.store.Put(string(f.Key), anew, f.Modified)
		if c.after != nil {
			c.after(w, f, dir)
		}
		if r := w.judge("s3://media/b"); r.Of("s3://media/b").Fate != c.want {
			t.Errorf("%s: %v, want %v", name, r.Of("s3://media/b").Fate, c.want)
		}
	}
}

// What counts of a file may change while its bytes don't: it may be of a write
// that is taken back, and a torn block at its end of one that is appending.
func TestLedgerHoldsWhileAWriteIsPending(t *testing.T) {
	w := newWorld(t)
	w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
	f := w.add(Base(t, true, M("s3://media/a")), "")
	w.judge("s3://media/x")
	f.Inflight = true
	if r := w.judge("s3://media/a"); r.Of("s3://media/a").Fate != blob.Pending {
		t.Errorf("a file in flight: %+v", r.Of("s3://media/a"))
	}
	torn := Log(t, nil, "1", M("s3://media/b"))
	w.add(torn[:len(torn)-9], ".log.1_0-1-2")
	w.judge("s3://media/x")
	w.o.Writing = true
	if r := w.judge("s3://media/b"); r.Of("s3://media/b").Fate != blob.Undecided {
		t.Errorf("a torn block: %+v", r.Of("s3://media/b"))
	}
}

// A damaged ledger costs time and nothing else.
func TestDamagedLedger(t *testing.T) {
	dir, root := t.TempDir(), lake.Root{Scheme: "s3", Authority: "lake", Path: "t"}
	w := newWorld(t)
	w.o.Ledger = blob.OpenLedger(dir, "t", root)
	for i := range 8 {
		w.add(Base(t, true, M(fmt.Sprintf("s3://media/%d", i))), "")
	}
	w.judge("s3://media/x")
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*.ledger"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		for _, data := range [][]byte{bad, good[:i]} {
			if err := os.WriteFile(files[0], data, 0o644); err != nil {
				t.Fatal(err)
			}
			r := w.judge("s3://media/0", "s3://media/7", "s3://media/x")
			if r.Of("s3://media/0").Fate != blob.Referenced || r.Of("s3://media/7").Fate != blob.Referenced {
				t.Fatalf("byte %d of %d: a live blob is lost: %+v", i, len(good), r)
			}
			if i < 8 && r.Remembered > 0 {
				t.Fatalf("a ledger of another version was used: %+v", r)
			}
		}
	}
}

// Files whose column lies in a bucket without a candidate aren't read, and
// once more only when a candidate comes to lie there.
func TestRuledOutByStatistics(t *testing.T) {
	w := newWorld(t)
	w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
	w.add(Base(t, true, M("s3://elsewhere/a"), M("s3://elsewhere/b")), "")
	w.add(Base(t, true, Ref{Key: "1"}, Ref{Key: "2"}), "")
	if r := w.judge("s3://media/x"); r.Ruled != 1 || r.Of("s3://media/x").Fate != blob.Unreferenced {
		t.Errorf("%+v", r)
	}
	before := w.opens()
	if r := w.judge("s3://media/y"); r.Remembered != 2 || w.opens() != before {
		t.Errorf("%d requests, %+v", w.opens()-before, r)
	}
	if r := w.judge("s3a://Elsewhere/b"); r.Of("s3a://Elsewhere/b").Fate != blob.Referenced {
		t.Errorf("what was passed over counts as read: %+v", r)
	}
	before = w.opens()
	if r := w.judge("s3://elsewhere/b"); r.Of("s3://elsewhere/b").Fate != blob.Referenced || w.opens() != before {
		t.Errorf("what was read since isn't remembered: %d requests, %+v", w.opens()-before, r)
	}
}

// Buckets of candidates are told apart up to a number: past that no file is
// ruled out, nor taken for one that was.
func TestTooManyBucketsRuleNothingOut(t *testing.T) {
	var list []lake.BlobID
	for i := range 10_001 {
		list = append(list, lake.BlobID(fmt.Sprintf("s3://b%d/x", i)))
	}
	last := list[len(list)-1]
	for name, warm := range map[string]bool{"no ledger": false, "ruled out before": true} {
		w := newWorld(t)
		w.add(Base(t, true, M(string(last))), "")
		if warm {
			w.o.Ledger = blob.OpenLedger(t.TempDir(), "t", lake.Root{Scheme: "s3", Authority: "lake", Path: "t"})
			if r := w.judge("s3://media/x"); r.Ruled != 1 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r := w.judge(list...); r.Of(last).Fate != blob.Referenced {
			t.Errorf("%s: %v", name, r.Of(last))
		}
	}
}

// The host of a file: URI says nothing about where it is.
func TestFilesOfAnyHost(t *testing.T) {
	w := newWorld(t)
	w.add(Base(t, true, M("file://localhost/mnt/b/x"), M("file://localhost/mnt/b/y")), "")
	w.add(Base(t, true, M("s3://a%2Fb/x"), M("s3://a%2Fb/y")), "")
	if r := w.judge("file:/mnt/b/x", "s3://a/b/y"); r.Of("file:/mnt/b/x").Fate != blob.Referenced || r.Of("s3://a/b/y").Fate != blob.Referenced {
		t.Errorf("%+v: %v, %v", r, r.Of("file:/mnt/b/x"), r.Of("s3://a/b/y"))
	}
}

// A column in dictionary encoding is read by its dictionary.
func TestDictionary(t *testing.T) {
	w := newWorld(t)
	var list []Ref
	for i := range 2000 {
		list = append(list, M(fmt.Sprintf("s3://media/%d", i%50)))
	}
	w.add(Plain(t, list...), "")
	if r := w.judge("s3://media/49", "s3://media/50"); r.Of("s3://media/49").Fate != blob.Referenced || r.Of("s3://media/50").Fate != blob.Unreferenced {
		t.Errorf("%+v", r)
	}
}

// A dictionary that overflowed doesn't tell all values.
func TestOverflowingDictionary(t *testing.T) {
	w := newWorld(t)
	var list []Ref
	for i := range 2000 {
		list = append(list, M(fmt.Sprintf("s3://media/%d", i)))
	}
	w.add(Overflowing(t, list...), "")
	if r := w.judge("s3://media/0", "s3://media/1999", "s3://media/2000"); r.Of("s3://media/0").Fate != blob.Referenced ||
		r.Of("s3://media/1999").Fate != blob.Referenced || r.Of("s3://media/2000").Fate != blob.Unreferenced {
		t.Errorf("%+v", r)
	}
}

// A cold look at a large file takes at most four requests.
func TestRequestsOfLargeFiles(t *testing.T) {
	w := newWorld(t)
	var list []Ref
	for i := range 40_000 {
		list = append(list, Ref{Key: fmt.Sprintf("%032d", i*7919), Path: fmt.Sprintf("s3://media/%x/%d", i*104729, i), Managed: true})
	}
	f := w.add(Large(t, list...), "")
	if f.Size < 2<<20 {
		t.Fatalf("only %d bytes", f.Size)
	}
	if r := w.judge("s3://media/nobody"); r.Of("s3://media/nobody").Fate != blob.Unreferenced || w.opens() > 4 {
		t.Errorf("%d requests, %+v", w.opens(), r)
	}
}

// An index keeps what it finds and proves nothing by what it lacks (H5, B138).
func TestIndexOnlyKeeps(t *testing.T) {
	w := newWorld(t)
	w.add(Base(t, true, M("s3://media/a"), M("s3://media/hole")), "")
	w.o.Index = index{"s3://media/indexed": {Partition: "p=1", FileID: "f7-0"}}
	r := w.judge("s3://media/indexed", "s3://media/hole", "s3://media/nobody")
	if got := r.Of("s3://media/indexed"); got.Fate != blob.Referenced || got.By != "p=1/f7-0" {
		t.Errorf("%+v", got)
	}
	if r.Of("s3://media/hole").Fate != blob.Referenced || r.Of("s3://media/nobody").Fate != blob.Unreferenced {
		t.Errorf("%+v", r)
	}
	w = newWorld(t)
	w.add(Base(t, true, M("s3://media/a")), "")
	w.o.Index = index{"s3://media/indexed": {}}
	if r := w.judge("s3://media/indexed"); r.Read != 0 || w.opens() != 0 {
		t.Errorf("files were read though the index settled all: %+v", r)
	}
	w.o.Index = index{}
	var list []lake.BlobID
	for i := range 2500 {
		list = append(list, lake.BlobID(fmt.Sprintf("s3://media/%d", i)))
		w.o.Index.(index)[string(list[i])] = blob.Group{}
	}
	if r := w.judge(list...); r.Read != 0 || r.Of(list[0]).Fate != blob.Referenced || r.Of(list[2499]).Fate != blob.Referenced {
		t.Errorf("not all were asked for: %+v", r)
	}
}

type index map[string]blob.Group

func (x index) Alive(_ context.Context, paths []string) (map[string]blob.Group, error) {
	if len(paths) > 1000 {
		return nil, fmt.Errorf("%d paths at once", len(paths))
	}
	out := map[string]blob.Group{}
	for _, p := range paths {
		if g, ok := x[p]; ok {
			out[p] = g
		}
	}
	return out, nil
}

// Random files against an oracle that holds every reference: what a file
// refers to, in any spelling, is never Unreferenced, and what none does is.
func TestJudgeAgainstOracle(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n++
		root := lake.Root{Scheme: "s3", Authority: "lake", Path: fmt.Sprint(n)}
		w.o.Ledger = blob.OpenLedger(dir, "t", root)
		spell := func(i int) string {
			form := rapid.SampledFrom([]string{"s3://media/x/%d.bin", "s3a://media/x/%d.bin", "s3://MEDIA/x//%d.bin", "s3://media/%%78/%d%%2Ebin", "s3n://media/y/../x/%d.bin", "s3://media/./x/%%2564/%d.bin"}).Draw(rt, "spelling")
			return fmt.Sprintf(form, i)
		}
		same := func(i int, s string) int { // the last spelling is of another object
			if strings.Contains(s, "2564") {
				return -i - 1
			}
			return i
		}
		alive, pending := map[int]bool{}, map[int]bool{}
		grow := func() {
			var list []Ref
			inflight := rapid.IntRange(0, 4).Draw(rt, "inflight") == 0
			for range rapid.IntRange(0, 4).Draw(rt, "refs") {
				i := rapid.IntRange(0, 9).Draw(rt, "blob")
				s := spell(i)
				list = append(list, Ref{Key: "k", Path: s, Managed: rapid.Bool().Draw(rt, "managed"), Column: rapid.SampledFrom([]string{"img", "other", "st.b", "pics"}).Draw(rt, "column")})
				if inflight {
					pending[same(i, s)] = true
				} else {
					alive[same(i, s)] = true
				}
			}
			switch rapid.IntRange(0, 3).Draw(rt, "form") {
			case 0:
				w.add(Base(t, rapid.Bool().Draw(rt, "avro"), list...), "")
			case 1:
				w.add(Log(t, nil, "1", list...), ".log.1_0-1-2")
			case 2:
				w.add(ParquetLog(t, nil, "1", list...), ".log.1_0-1-2")
			default:
				w.add(CDC(t, nil, "1", list...), ".log.1_0-1-2.cdc")
			}
			w.files[len(w.files)-1].Inflight = inflight
		}
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 3).Draw(rt, "files") {
				grow()
			}
			var candidates []lake.BlobID
			for i := range 10 {
				candidates = append(candidates, lake.BlobID(spell(i)))
			}
			r := w.judge(candidates...)
			for i, c := range candidates {
				want := blob.Unreferenced
				if id := same(i, string(c)); alive[id] {
					want = blob.Referenced
				} else if pending[id] {
					want = blob.Pending
				}
				if got := r.Of(c); got.Fate != want {
					rt.Fatalf("%s: %v, want %v; %+v", c, got, want, r)
				}
			}
		}
	})
}
