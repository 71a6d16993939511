package blobqueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

func texts(ps ...string) iter.Seq2[lake.BlobID, error] {
	return func(yield func(lake.BlobID, error) bool) {
		for _, p := range ps {
			if !yield(lake.BlobID(p), nil) {
				return
			}
		}
	}
}

// spelledAnyhow is asked about paths, however they are spelled.
func spelledAnyhow(has func(string) bool) func(Spelling) (func(string) bool, error) {
	return func(Spelling) (func(string) bool, error) { return has, nil }
}

func encoded(t *testing.T, ps ...string) []byte {
	t.Helper()
	data, n, err := EncodePaths(Spelling{}, texts(ps...))
	if err != nil || n != int64(len(ps)) {
		t.Fatal(n, err)
	}
	return data
}

// world is a store with a timeline of layout 2.
type world struct {
	*mem.Store
	t   *testing.T
	now time.Time
}

const timelineDir = ".hoodie/timeline"

func newWorld(t *testing.T, instants ...string) *world {
	w := &world{t: t, now: epoch()}
	w.Store = mem.New(mem.Options{Now: func() time.Time { return w.now }})
	for _, name := range instants {
		w.Put(timelineDir+"/"+name, []byte("x"), time.Time{})
	}
	return w
}

func (w *world) timeline() *timeline.Timeline {
	w.t.Helper()
	tl, err := timeline.Load(w.t.Context(), w, timelineDir, timeline.Layout2)
	if err != nil {
		w.t.Fatal(err)
	}
	return tl
}

func (w *world) sidecar(clean string, ps ...string) {
	w.t.Helper()
	if err := WriteSidecar(w.t.Context(), w, w, clean, encoded(w.t, ps...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) files() []string {
	var out []string
	all, err := artifacts(w.t.Context(), w)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range all {
		out = append(out, strings.TrimPrefix(a.Name, Dir+"/"))
	}
	return out
}

// C-RFC "Sidecar": one column, required binary external_path (STRING).
func TestSidecarHasTheRFCsSchema(t *testing.T) {
	data := encoded(t, "a", "b")
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	root := f.Metadata().Schema
	if len(root) != 2 || root[1].Name != "external_path" || root[1].RepetitionType.V.String() != "REQUIRED" || root[1].Type.V.String() != "BYTE_ARRAY" {
		t.Errorf("%+v", root)
	}
	if text := f.Schema().String(); !strings.Contains(text, "required binary external_path (STRING)") {
		t.Error(text)
	}
	if SidecarPath("20260101000000000") != ".hoodie/.aux/clean/20260101000000000.blob_deletes.parquet" {
		t.Error(SidecarPath("20260101000000000"))
	}
	if _, _, err := EncodePaths(Spelling{}, texts("b", "a")); lake.KindOf(err) != lake.Internal {
		t.Errorf("unsorted: %v", err)
	}
}

func TestSweepRemovesOrphanSidecarsOnly(t *testing.T) {
	w := newWorld(t, "20260301080000000.clean.requested", "20260301070000000.clean.requested", "20260301070000000.clean.inflight", "20260301070000000_20260301070100000.clean")
	w.sidecar("20260301080000000", "a") // pending
	w.sidecar("20260301070000000", "a") // completed, on the timeline
	w.sidecar("20260201000000000", "a") // archived, or rolled back
	sweep := func(now time.Time) int {
		t.Helper()
		n, _, err := Sweep(t.Context(), w, w, w.timeline(), now, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := sweep(epoch().Add(time.Hour)); n != 0 {
		t.Errorf("a young sidecar, perhaps of a clean that is about to be published, is gone: %q", w.files())
	}
	if n := sweep(epoch().Add(25 * time.Hour)); n != 1 || len(w.files()) != 2 {
		t.Errorf("%d, %q", n, w.files())
	}
}

// Under the lock the sidecar of a clean that was archived or rolled back goes at
// once; that of a pending clean, and one that a running write may have to be
// told of, stay.
func TestWithdrawRemovesSidecarsAtOnce(t *testing.T) {
	w := newWorld(t, "20260301080000000.clean.requested", "20260301070500000.commit.requested", "20260301070500000.inflight")
	for _, clean := range []string{"20260301080000000", "20260301070000000", "20260301073000000"} { // pending, before and after the write began
		w.sidecar(clean, "a")
	}
	if n, young, err := Sweep(t.Context(), w, w, w.timeline(), epoch(), 24*time.Hour); n != 0 || !young || err != nil {
		t.Errorf("%d, %v, %v", n, young, err)
	}
	if n, err := Withdraw(t.Context(), w, w, w.timeline()); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := w.files(); len(got) != 2 || slices.Contains(got, "20260301070000000"+sidecarExt) {
		t.Errorf("%q", got)
	}
	if _, young, err := Sweep(t.Context(), w, w, w.timeline(), epoch(), 24*time.Hour); young || err != nil {
		t.Errorf("%v, %v", young, err)
	}
}

// An ended drain's intent stays as long as a write runs that began before it ended.
func TestSweepKeepsIntentsForWritesThatBeganBefore(t *testing.T) {
	w := newWorld(t, "20260301090000000.deltacommit.requested")
	i, err := Publish(t.Context(), w, w, "20260301091000000", encoded(t, "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := i.End(t.Context(), "20260301092000000"); err != nil {
		t.Fatal(err)
	}
	late := epoch().Add(72 * time.Hour)
	if n, _, err := Sweep(t.Context(), w, w, w.timeline(), late, time.Hour); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	w.Put(timelineDir+"/20260301090000000_20260301093000000.deltacommit", []byte("x"), time.Time{})
	if n, _, err := Sweep(t.Context(), w, w, w.timeline(), late, time.Hour); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := i.Verify(t.Context()); lake.KindOf(err) != lake.Stale {
		t.Errorf("a withdrawn intent: %v", err)
	}
}

// Services only copy references whose files stay until they are complete; all
// else that writes may bring new ones.
func TestWhichWritesMayBringReferences(t *testing.T) {
	for action, brings := range map[string]bool{"commit": true, "deltacommit": true, "replacecommit": true,
		"compaction": false, "logcompaction": false, "clustering": false, "clean": false, "rollback": false, "savepoint": false, "indexing": false} {
		for _, state := range []string{"requested", "inflight"} {
			at := "20260301090000000"
			w := newWorld(t, at+"."+action+".requested", at+"."+action+"."+state)
			if got := EarliestWrite(w.timeline()); (got == at) != brings {
				t.Errorf("%s %s: %q", action, state, got)
			}
		}
	}
}

func TestCheckTellsAWriterWhatIsBeingDeleted(t *testing.T) {
	w := newWorld(t,
		"20260301080000000.clean.requested",
		"20260301081000000.clean.requested", "20260301081000000.clean.inflight",
		"20260301070000000.clean.requested", "20260301070000000.clean.inflight", "20260301070000000_20260301083000000.clean")
	w.sidecar("20260301080000000", "requested")
	w.sidecar("20260301081000000", "inflight")
	w.sidecar("20260301070000000", "completed")
	w.sidecar("20260301060000000", "orphan")
	if _, err := Publish(t.Context(), w, w, "20260301084000000", encoded(t, "draining")); err != nil {
		t.Fatal(err)
	}
	ended, err := Publish(t.Context(), w, w, "20260301075000000", encoded(t, "drained"))
	if err == nil {
		err = ended.End(t.Context(), "20260301075500000")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.PutIfAbsent(t.Context(), queueDir+"/00000000000000000001.parquet", []byte("never read")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, write string
		want              string
	}{
		{"a requested clean", "requested", "20260301090000000", "requested"},
		{"an inflight clean", "inflight", "20260301090000000", "inflight"},
		{"a clean completed since the write began", "completed", "20260301082000000", "completed"},
		{"a clean completed before the write began", "completed", "20260301084000000", ""},
		{"a drain under way", "draining", "20260301090000000", "inflight"},
		{"a drain that ended since the write began", "drained", "20260301074000000", "completed"},
		{"a drain that began before the write and ended since", "drained", "20260301075200000", "completed"},
		{"a drain that ended before the write began", "drained", "20260301080000000", ""},
		{"an orphan older than the write", "orphan", "20260301080000000", ""},
		{"an orphan planned since the write began", "orphan", "20260301050000000", "completed"},
		{"a write whose beginning isn't known", "orphan", "", "completed"},
		{"another path", "else", "", ""},
	} {
		answer, err := Check(t.Context(), w, w.timeline(), c.write, spelledAnyhow(func(p string) bool { return p == c.path }))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(answer.Conflicts) == 1 {
			got = answer.Conflicts[0].State
		}
		if got != c.want || len(answer.Conflicts) > 1 {
			t.Errorf("%s: %+v", c.name, answer)
		}
	}
	w.Put(SidecarPath("20260301080000000"), []byte("cut"), time.Time{})
	if _, err := Check(t.Context(), w, w.timeline(), "", spelledAnyhow(func(string) bool { return false })); lake.KindOf(err) != lake.Damaged {
		t.Errorf("a sidecar that can't be read: %v", err)
	}
}

// Layout 1 has no completion times in names: the store's times decide.
func TestCheckInLayout1GoesByTheStoresTimes(t *testing.T) {
	w := &world{t: t, now: epoch()}
	w.Store = mem.New(mem.Options{Now: func() time.Time { return w.now }})
	put := func(name string, minute int) {
		w.Put(".hoodie/"+name, []byte("x"), epoch().Add(time.Duration(minute)*time.Minute))
	}
	put("20260301070000000.clean.requested", 0)
	put("20260301070000000.clean", 10)
	put("20260301070500000.deltacommit.requested", 5)
	put("20260301071500000.deltacommit.requested", 15)
	w.sidecar("20260301070000000", "x")
	tl, err := timeline.Load(t.Context(), w, ".hoodie", timeline.Layout1)
	if err != nil {
		t.Fatal(err)
	}
	for write, conflicts := range map[string]int{"20260301070500000": 1, "20260301071500000": 0, "20260301072000000": 1, "": 1} { // the third began unseen
		answer, err := Check(t.Context(), w, tl, write, spelledAnyhow(func(string) bool { return true }))
		if err != nil || len(answer.Conflicts) != conflicts {
			t.Errorf("%s: %+v, %v", write, answer, err)
		}
	}
}

func TestCheckNamesAHundredConflicts(t *testing.T) {
	w := newWorld(t, "20260301080000000.clean.requested")
	var ps []string
	for i := range 250 {
		ps = append(ps, fmt.Sprintf("p%04d", i))
	}
	w.sidecar("20260301080000000", ps...)
	answer, err := Check(t.Context(), w, w.timeline(), "", spelledAnyhow(func(string) bool { return true }))
	if err != nil || len(answer.Conflicts) != conflictsKept || !answer.More {
		t.Errorf("%d, %v, %v", len(answer.Conflicts), answer.More, err)
	}
}

func TestClaim(t *testing.T) {
	root := lake.Root{Scheme: "s3", Authority: "media", Path: "blobs"}
	s := mem.New(mem.Options{})
	claim := func(table, id string, known ...string) error {
		return Claim(t.Context(), s, root, Claimer{Table: table, ID: id, Since: epoch()}, func(o string) bool { return slices.Contains(known, o) })
	}
	if err := claim("s3://l/a", "a"); err != nil {
		t.Fatal(err)
	}
	before, err := s.Stat(t.Context(), lake.ClaimName)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim("s3://l/a", "a"); err != nil {
		t.Errorf("once more: %v", err)
	}
	if after, err := s.Stat(t.Context(), lake.ClaimName); err != nil || after.ETag != before.ETag {
		t.Errorf("the claim was written anew: %v", err)
	}
	err = claim("s3://l/b", "b")
	if lake.KindOf(err) != lake.Refused || !strings.Contains(err.Error(), "s3://l/a") || !strings.Contains(lake.HintOf(err), "--also-references s3://l/a") {
		t.Errorf("another table: %v", err)
	}
	if err := claim("s3://l/b", "b", "s3://l/a"); err != nil {
		t.Errorf("another table that names the first: %v", err)
	}
	if err := claim("s3://l/a", "a"); lake.KindOf(err) != lake.Refused {
		t.Errorf("the first must know the second now: %v", err)
	}
	s.Put(lake.ClaimName, []byte(`{"schema":2}`), time.Time{})
	if err := claim("s3://l/a", "a"); lake.KindOf(err) != lake.Damaged {
		t.Errorf("an unknown claim: %v", err)
	}
}

// raced is a blob root that another table claims before a claim is replaced.
type raced struct {
	*mem.Store
	before func()
}

func (r *raced) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	return r.Store.Replace(ctx, name, data, ifMatch)
}

// A claim takes no other away that is made at the same time.
func TestAClaimIsReplacedAsItWasRead(t *testing.T) {
	s, root := &raced{Store: mem.New(mem.Options{})}, lake.Root{Scheme: "mem", Authority: "b"}
	put := func(tables string) {
		s.Put(lake.ClaimName, []byte(`{"schema":1,"tables":[`+tables+`]}`), time.Time{})
	}
	put(`{"table":"a"}`)
	s.before = func() { put(`{"table":"a"},{"table":"c"}`) }
	err := Claim(t.Context(), s, root, Claimer{Table: "b"}, func(table string) bool { return table == "a" })
	if lake.KindOf(err) != lake.Refused {
		t.Errorf("the claim of c is lost: %v", err)
	}
}

// A claim that a store shows before it is written is somebody's, until its
// writer must have died.
func TestAnEmptyClaimIsSomebodys(t *testing.T) {
	root := lake.Root{Scheme: "hdfs", Authority: "n", Path: "blobs"}
	s := mem.New(mem.Options{})
	made := epoch()
	s.Put(lake.ClaimName, nil, made)
	nobody := func(string) bool { return false }
	for _, c := range []struct {
		age  time.Duration
		kind lake.Kind
		free bool
	}{{0, lake.Locked, false}, {settling - 1, lake.Locked, false}, {settling, 0, true}} {
		me := Claimer{Table: "s3://l/a", ID: "a", Since: made.Add(c.age)}
		_, claimed := Claimed(t.Context(), s, root, "", me)
		allowed := Allowed(t.Context(), s, root, "", me, nobody)
		for what, err := range map[string]error{"claimed": claimed, "allowed": allowed, "claim": Claim(t.Context(), s, root, me, nobody)} {
			if (err == nil) != c.free || err != nil && (lake.KindOf(err) != c.kind || lake.HintOf(err) == "") {
				t.Errorf("%s after %s: %v", what, c.age, err)
			}
		}
	}
	if is, err := Claimed(t.Context(), s, root, "", Claimer{Table: "s3://l/a"}); !is || err != nil {
		t.Errorf("the claim of a dead writer wasn't taken over: %v, %v", is, err)
	}
}

// Two tables that claim a root at one time don't both get it alone.
func TestClaimsRace(t *testing.T) {
	root := lake.Root{Scheme: "mem", Authority: "x", Path: "blobs"}
	s := mem.New(mem.Options{})
	racing := false
	faults := store.NewFaults(func(c store.Call) store.Injection {
		if c.Op == "create" && !racing {
			racing = true
			if err := Claim(t.Context(), s, root, Claimer{Table: "first"}, func(string) bool { return false }); err != nil {
				t.Error(err)
			}
		}
		return store.Injection{}
	})
	err := Claim(t.Context(), faults.Wrap(s), root, Claimer{Table: "second"}, func(string) bool { return false })
	if lake.KindOf(err) != lake.Refused || errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
}

// The writers' check of a sidecar of 100,000 paths.
func BenchmarkCheck(b *testing.B) {
	s := mem.New(mem.Options{})
	s.Put(timelineDir+"/20260301080000000.clean.requested", []byte("x"), time.Time{})
	data, _, err := EncodePaths(Spelling{}, func(yield func(lake.BlobID, error) bool) {
		for i := range 100_000 {
			if !yield(lake.BlobID(fmt.Sprintf("s3://media-bucket/2026/03/01/%08d-4f2c-9b1e.jpg", i)), nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Put(SidecarPath("20260301080000000"), data, time.Time{})
	tl, err := timeline.Load(b.Context(), s, timelineDir, timeline.Layout2)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Check(b.Context(), s, tl, "", spelledAnyhow(func(p string) bool { return p == "x" })); err != nil {
			b.Fatal(err)
		}
	}
}

// A sidecar says how its paths are spelled; an older one, which doesn't, is read too.
func TestSidecarSaysHowItIsSpelled(t *testing.T) {
	names, err := lake.NewBlobNames(lake.BlobOptions{Table: lake.Root{Scheme: "s3", Authority: "l", Path: "t"}, Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}, Maps: []lake.BlobMap{{From: "s3://media", To: "/mnt"}}})
	if err != nil {
		t.Fatal(err)
	}
	var old bytes.Buffer
	out := newWriter[pathRow](&old)
	_, err = out.Write([]pathRow{{"x"}})
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	data, _, err := EncodePaths(SpellingOf(names), texts("x"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want Spelling
	}{"new": {data, SpellingOf(names)}, "old": {old.Bytes(), Spelling{}}} {
		w := newWorld(t, "20260301080000000.clean.requested")
		w.Put(SidecarPath("20260301080000000"), c.data, time.Time{})
		answer, err := Check(t.Context(), w, w.timeline(), "", func(s Spelling) (func(string) bool, error) {
			if !reflect.DeepEqual(s, c.want) {
				t.Errorf("%s: %+v", name, s)
			}
			return func(string) bool { return true }, nil
		})
		if err != nil || len(answer.Conflicts) != 1 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	again, err := SpellingOf(names).Names()
	if err != nil || again.Rules() != names.Rules() {
		t.Errorf("%q, not %q: %v", again.Rules(), names.Rules(), err)
	}
}
