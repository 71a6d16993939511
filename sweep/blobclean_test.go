package sweep

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/blobtest"
)

// The protocol from end to end: a clean queues what it lets go, a later one
// deletes it, the one after that reports the figures.
func TestBlobsAreQueuedThenDrained(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("old", "shared", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"old", "shared"}, "2b": {"shared"}})
	w.commit(map[string][]string{"1a": {"new"}})
	w.commit(map[string][]string{"1a": {"new"}})
	r := w.mustClean()
	if r.Deleted != 1 || r.Queued != 1 || w.blobs() != "new old shared" || w.queued() != "old" {
		t.Fatalf("%+v, queued %q", r, w.queued())
	}
	m := w.lastClean()
	sidecar := m.Extra[blobqueue.ExtraPath]
	if m.Blobs == nil || m.Blobs.Sidecar == nil || *m.Blobs.Sidecar != sidecar || sidecar != blobqueue.SidecarPath(m.StartTime) {
		t.Fatalf("%+v, %+v", m.Extra, m.Blobs)
	}
	if _, err := os.Stat(w.path("table/" + sidecar)); err != nil {
		t.Fatal(err)
	}
	w.pass(25)
	r = w.mustClean() // nothing to clean: the drain needs no commit
	if r.Deleted != 1 || r.Bytes != 3 || w.blobs() != "new shared" || w.queued() != "" {
		t.Fatalf("%+v, queued %q", r, w.queued())
	}
	w.commit(map[string][]string{"1a": {"new"}})
	w.mustClean()
	if m := w.lastClean(); m.Blobs == nil || m.Blobs.Deleted != 1 || m.Blobs.Bytes != 3 || m.Blobs.Sidecar != nil {
		t.Errorf("%+v", m.Blobs)
	}
	w.commit(map[string][]string{"1a": {"new"}})
	w.mustClean()
	if m := w.lastClean(); m.Blobs != nil {
		t.Errorf("the same figures were told twice: %+v", m.Blobs)
	}
	w.check()
}

// With no grace time and no other writers one run does it all.
func TestBlobsDieAtOnceWithoutGraceAndWriters(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("old", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"old"}})
	w.commit(map[string][]string{"1a": {"new"}})
	w.commit(map[string][]string{"1a": {"new"}})
	req, none := w.request(), time.Duration(0)
	req.Hudi.Blobs.Grace = &none
	r, err := w.clean(req)
	if err != nil || r.Deleted != 2 || w.blobs() != "new" || w.queued() != "" || r.Queued != 0 {
		t.Fatalf("%+v, %v, %q", r, err, w.queued())
	}
}

// --blobs-wait waits for the grace time in the same run.
func TestBlobsWait(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("old", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"old"}})
	w.commit(map[string][]string{"1a": {"new"}})
	w.commit(map[string][]string{"1a": {"new"}})
	req, grace := w.request(), 20*time.Hour
	req.Hudi.Blobs.Grace, req.Hudi.Blobs.Wait = &grace, true
	if r, err := w.clean(req); err != nil || r.Deleted != 2 || w.blobs() != "new" {
		t.Errorf("%+v, %v", r, err)
	}
}

// What `--blobs plan` shows can't be carried out: with the slices the last trace
// of their blobs would go. As it is they are all there for a clean that queues.
func TestBlobsThatAreOnlyPlannedStay(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("old", "new")
	w.pass(48)
	w.commit(map[string][]string{"1a": {"old"}})
	w.commit(map[string][]string{"1a": {"new"}})
	w.commit(map[string][]string{"1a": {"new"}})
	req := w.request()
	req.Hudi.Blobs.Mode = "plan"
	before := len(w.files("table/p=1/*.parquet"))
	if r, err := w.clean(req); lake.KindOf(err) != lake.Invalid || lake.HintOf(err) == "" || r.Deleted != 0 || len(w.files("table/p=1/*.parquet")) != before || len(w.files("table/.hoodie/*clean*")) > 0 {
		t.Errorf("a plan file: %+v, %v", r, err)
	}
	req.AtOnce = &ApplyRequest{}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Invalid {
		t.Errorf("a clean: %v", err)
	}
	if r, err := w.clean(w.request()); err != nil || r.Deleted != 1 || w.queued() != "old" {
		t.Errorf("queued later: %q, %+v, %v", w.queued(), r, err)
	}
}

// RFC-100's constraints and requirements that carrying out concerns, one table
// each. All start with X in an expired slice of group 1a.
func TestConstraints(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *blobWorld) // the table before the clean
		late   func(w *blobWorld) // after its last commit
		after  func(w *blobWorld) // while X is queued
		queued string             // at the clean
		left   string             // after the drain
	}{
		"C2, R1: a path that is uploaded anew while it waits": {queued: "X", after: func(w *blobWorld) { w.upload("X") }, left: "X Y"},
		"C2: a write that began before the clean still runs":  {late: func(w *blobWorld) { w.begin() }, queued: "X", left: "X Y"},
		"C3, R1: another file group shares it":                {before: func(w *blobWorld) { w.commit(map[string][]string{"1b": {"X"}}) }, left: "X Y"},
		"C3, C11: another partition shares it":                {before: func(w *blobWorld) { w.commit(map[string][]string{"2b": {"X"}}) }, left: "X Y"},
		"C7: a replace commit moved it to another group": {before: func(w *blobWorld) {
			w.commit(map[string][]string{"1b": {"X"}})
			at := w.begin()
			w.complete(at, []string{w.file(at, "1c", "X")}, "1b-0")
		}, left: "X Y"},
		"C8: a savepoint holds its slice": {before: func(w *blobWorld) { w.savepoint("1a") }, left: "X Y"},
		"C9, H8: a restore brings it back": {queued: "X", after: func(w *blobWorld) {
			w.commit(map[string][]string{"1a": {"X"}})
		}, left: "X Y"},
		"C10, R2: its commit is archived before it dies": {queued: "X", after: func(w *blobWorld) {
			for _, f := range w.files("table/.hoodie/20260303*") {
				if strings.HasSuffix(f, "commit") || strings.Contains(f, "commit.") || strings.HasSuffix(f, ".inflight") {
					w.remove("table/.hoodie/" + f)
					break
				}
			}
		}, left: "Y"},
		"R2: nothing refers to it": {queued: "X", left: "Y"},
		"managed in the expired slice, unmanaged in a retained one": {before: func(w *blobWorld) {
			at := w.begin()
			w.complete(at, []string{w.records(at, "1d", blobtest.Ref{Key: "k", Path: spelled("X")})})
		}, left: "X Y"},
		"another spelling of it is retained": {before: func(w *blobWorld) {
			at := w.begin()
			f := w.records(at, "1d", blobtest.M("s3a://media/X"))
			w.refs[f] = []string{"X"}
			w.complete(at, []string{f})
		}, left: "X Y"},
		"H6: a write in flight refers to it":         {queued: "X", after: func(w *blobWorld) { w.file(w.begin(), "1e", "X") }, left: "X Y"},
		"H8: it is referred to again while it waits": {queued: "X", after: func(w *blobWorld) { w.commit(map[string][]string{"2f": {"X"}}) }, left: "X Y"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("X", "Y")
			w.pass(72)
			w.commit(map[string][]string{"1a": {"X"}})
			w.commit(map[string][]string{"1a": {"Y"}})
			if c.before != nil {
				c.before(w)
			}
			w.commit(map[string][]string{"1a": {"Y"}})
			if c.late != nil {
				c.late(w)
			}
			w.mustClean()
			if w.queued() != c.queued {
				t.Fatalf("queued %q, want %q", w.queued(), c.queued)
			}
			w.check()
			w.pass(2)
			if c.after != nil {
				c.after(w)
			}
			w.pass(30)
			w.mustClean()
			if w.blobs() != c.left {
				t.Errorf("left %q, want %q", w.blobs(), c.left)
			}
			w.check()
		})
	}
}

// R7: all three policies.
func TestBlobsUnderEveryPolicy(t *testing.T) {
	for name, h := range map[string]HudiRequest{
		"KEEP_LATEST_COMMITS":       {RetainCommits: 1},
		"KEEP_LATEST_FILE_VERSIONS": {RetainVersions: 1},
		"KEEP_LATEST_BY_HOURS":      {RetainHours: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("X", "Y")
			w.pass(72)
			w.commit(map[string][]string{"1a": {"X"}})
			for range 3 {
				w.commit(map[string][]string{"1a": {"Y"}})
			}
			req := w.request()
			h.NoOtherWriters, h.Blobs = true, req.Hudi.Blobs
			req.Hudi = h
			if _, err := w.clean(req); err != nil || w.queued() != "X" {
				t.Fatalf("%v, queued %q", err, w.queued())
			}
			w.pass(30)
			if _, err := w.clean(req); err != nil || w.blobs() != "Y" {
				t.Errorf("%v, left %q", err, w.blobs())
			}
			w.check()
		})
	}
}

// H7: another table that deletes below the same root is told of, and its
// references count once it is named.
func TestTablesThatShareARoot(t *testing.T) {
	a := newBlobWorld(t, t)
	b := newBlobWorld(t, t)
	if err := os.RemoveAll(b.path("blobs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(a.path("blobs"), b.path("blobs")); err != nil {
		t.Fatal(err)
	}
	a.upload("X", "Y")
	for _, w := range []*blobWorld{a, b} {
		w.pass(72)
		w.commit(map[string][]string{"1a": {"X"}})
		w.commit(map[string][]string{"1a": {"Y"}})
	}
	a.commit(map[string][]string{"1a": {"Y"}})
	a.mustClean()
	req := a.request()
	req.Table, req.Unsafe = b.table(), Unsafe{MostlyDead: b.table()}
	if _, err := b.clean(req); lake.KindOf(err) != lake.Refused || !strings.Contains(err.Error(), a.table()) {
		t.Fatalf("another table at the same root: %v", err)
	}
	// b's slice with X is retained: a's drain must see it once b is named.
	a.pass(30)
	req = a.request()
	req.Hudi.Blobs.Also = []string{b.table()}
	if _, err := a.clean(req); err != nil || a.blobs() != "X Y" {
		t.Errorf("%v, left %q", err, a.blobs())
	}
}

// A blob root that isn't there, such as a missing mount, doesn't pass for blobs that are gone.
func TestAMissingBlobRootRefuses(t *testing.T) {
	w := expired(t)
	w.mustClean()
	w.pass(30)
	if err := os.Rename(w.path("blobs"), w.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.clean(w.request()); lake.KindOf(err) != lake.Refused || w.queued() != "X" {
		t.Fatalf("%v, queued %q", err, w.queued())
	}
	if err := os.Rename(w.path("elsewhere"), w.path("blobs")); err != nil {
		t.Fatal(err)
	}
	if w.mustClean(); w.blobs() != "Y Z" || w.queued() != "" {
		t.Errorf("left %q, queued %q", w.blobs(), w.queued())
	}
}

// Nor does one that is there and empty, such as a folder on which nothing is
// mounted, whether the root is given as it was or as a folder below.
func TestAnEmptiedBlobRootRefuses(t *testing.T) {
	for name, given := range map[string]string{"as it was": "s3://media", "a folder below": "s3://media/sub"} {
		t.Run(name, func(t *testing.T) {
			w := newBlobWorld(t, t)
			w.upload("sub/X", "sub/Y")
			w.pass(72)
			for _, b := range []string{"sub/X", "sub/Y", "sub/Y"} {
				w.commit(map[string][]string{"1a": {b}})
			}
			w.mustClean()
			w.pass(30)
			root, err := lake.ParsePlace(given)
			if err != nil {
				t.Fatal(err)
			}
			req := w.request()
			req.Hudi.Blobs.Roots = []lake.Root{root}
			if err := os.Rename(w.path("blobs"), w.path("elsewhere")); err != nil {
				t.Fatal(err)
			}
			w.put("blobs/sub/.keep", "")
			if _, err := w.clean(req); lake.KindOf(err) != lake.Refused || w.queued() != "sub/X" {
				t.Fatalf("%v, queued %q", err, w.queued())
			}
			if err := os.RemoveAll(w.path("blobs")); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(w.path("elsewhere"), w.path("blobs")); err != nil {
				t.Fatal(err)
			}
			if _, err := w.clean(req); err != nil || w.there("sub/X") || !w.there("sub/Y") || w.queued() != "" {
				t.Errorf("%v, queued %q", err, w.queued())
			}
		})
	}
}

// B149, R6: a table without blob columns gets the clean that it always got, by
// the same requests. Only where a plan reads no commit, as the first one does,
// does it take a request to know the schema.
func TestATableWithoutBlobsPaysNothing(t *testing.T) {
	clean := func(mode string) (first, second []string) {
		w := newBlobWorld(t, t)
		w.schema = `{"type":"record","name":"r","fields":[{"name":"a","type":"string"}]}`
		trace := func() (calls []string) {
			for range 3 {
				w.commit(map[string][]string{"1a": nil})
			}
			req := w.request()
			req.Hudi.Blobs.Mode = mode
			w.faults = store.NewFaults(func(c store.Call) store.Injection {
				if name := c.Name[strings.LastIndexByte(c.Name, '/')+1:]; !strings.HasPrefix(name, ".lakesweep") {
					calls = append(calls, c.Op+" "+c.Name)
				}
				return store.Injection{}
			})
			if r, err := w.clean(req); err != nil || r.Deleted == 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			w.faults = nil
			slices.Sort(calls) // some are made at once
			return calls
		}
		first, second = trace(), trace()
		if got := w.files("table/.hoodie/.aux"); len(got) > 0 || len(w.files("blobs/.lakesweep*")) > 0 {
			t.Errorf("%s: %q", mode, got)
		}
		meta, err := os.ReadFile(w.path("table/.hoodie/" + w.files("table/.hoodie/*.clean")[1]))
		if err != nil || strings.Contains(string(meta), "lobCleanStats") {
			t.Errorf("%s: the clean speaks of blobs: %v", mode, err)
		}
		return first, second
	}
	first, second := clean("off")
	firstWith, secondWith := clean("delete")
	if len(first) == 0 || len(firstWith) > len(first)+1 {
		t.Errorf("a first clean: %d calls without, %d with --blobs delete", len(first), len(firstWith))
	}
	if d := cmp.Diff(second, secondWith); d != "" {
		t.Errorf("%d calls without, %d with --blobs delete: %s", len(second), len(secondWith), d)
	}
}

// An unreadable retained file: no blob dies, and the run says so.
func TestNoBlobDiesWhileAFileCantBeRead(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("X", "Y")
	w.pass(72)
	w.commit(map[string][]string{"1a": {"X"}})
	w.commit(map[string][]string{"1a": {"Y"}})
	w.commit(map[string][]string{"1a": {"Y"}})
	w.mustClean()
	w.pass(30)
	at := w.begin()
	f := w.file(at, "2b", "Y")
	w.complete(at, []string{f})
	w.put("table/"+f, "not Parquet at all")
	r, err := w.clean(w.request())
	if lake.KindOf(err) != lake.Partial || w.blobs() != "X Y" || w.queued() != "X" {
		t.Errorf("%+v, %v, %q", r, err, w.queued())
	}
}

// The sidecar of a clean that was archived, rolled back or never published goes
// with the next run; that of a pending one stays until its clean is finished.
// The queue stands in any case, and X dies.
func TestSidecarsGoWithTheirClean(t *testing.T) {
	sidecars := "table/.hoodie/.aux/clean/*.blob_deletes.parquet"
	for name, c := range map[string]struct {
		dies string // the call before which the first run dies, "" for none
		do   func(w *blobWorld)
		left int // sidecars after the next run
	}{
		"archived": {do: func(w *blobWorld) {
			for _, f := range w.files("table/.hoodie/*.clean*") {
				w.remove("table/.hoodie/" + f)
			}
		}},
		"rolled back": {dies: ".clean.inflight", do: func(w *blobWorld) {
			w.remove("table/.hoodie/" + w.files("table/.hoodie/*.clean.requested")[0])
		}, left: 1}, // of the clean that lets X go in its place
		"never published": {dies: ".clean.requested", left: 1},
		"pending":         {dies: ".clean.inflight", left: 1},
		"a write began before it": {do: func(w *blobWorld) {
			w.put("table/.hoodie/20260301000000001.commit.requested", "")
			for _, f := range w.files("table/.hoodie/*.clean*") {
				w.remove("table/.hoodie/" + f)
			}
		}, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := expired(t)
			if c.dies != "" {
				die := ends("create", c.dies)
				w.faults = store.NewFaults(func(call store.Call) store.Injection { return store.Injection{Kill: die(call)} })
			}
			_, err := w.clean(w.request())
			if w.faults = nil; (err != nil) != (c.dies != "") {
				t.Fatal(err)
			}
			before := w.files(sidecars)
			if len(before) != 1 || w.queued() != "X" {
				t.Fatalf("%q, queued %q", before, w.queued())
			}
			if c.do != nil {
				c.do(w)
			}
			w.pass(1)
			w.mustClean()
			after := w.files(sidecars)
			if len(after) != c.left || w.queued() != "X" {
				t.Errorf("%q, before %q; queued %q", after, before, w.queued())
			}
			if gone := name != "pending" && name != "a write began before it"; gone && len(after) > 0 && after[0] == before[0] {
				t.Errorf("%q is still there", after)
			}
			if name == "a write began before it" {
				w.remove("table/.hoodie/20260301000000001.commit.requested")
			}
			w.pass(30)
			if w.mustClean(); w.blobs() != "Y Z" || w.queued() != "" {
				t.Errorf("left %q, queued %q", w.blobs(), w.queued())
			}
		})
	}
}

// remove removes a file.
func (w *blobWorld) remove(name string) {
	w.t.Helper()
	if err := os.Remove(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// savepoint holds the oldest slice of a group of p=1.
func (w *blobWorld) savepoint(group string) {
	w.t.Helper()
	f := w.files("table/p=1/" + group + "-0_*")[0]
	at := strings.TrimSuffix(f[strings.LastIndexByte(f, '_')+1:], ".parquet")
	w.put("table/.hoodie/"+at+".savepoint.inflight", "")
	w.put("table/.hoodie/"+at+".savepoint", string(blobtest.Savepoint(w.tb, "p=1/"+f)))
}

// H4: a drain that may read a few files only settles nothing wrongly, forgets
// nothing, and goes on where the last one ended.
func TestADrainWithALimitGoesOn(t *testing.T) {
	w := newBlobWorld(t, t)
	w.upload("X", "Y")
	w.pass(72)
	w.commit(map[string][]string{"1a": {"X"}, "1b": {"Y"}, "1c": {"Y"}, "2d": {"Y"}, "2e": {"Y"}})
	for range 2 {
		w.commit(map[string][]string{"1a": {"Y"}, "2e": {"Y"}})
	}
	req := w.request()
	req.Hudi.Blobs.ScanFiles = 2
	runs := 0
	for w.there("X") {
		if runs++; runs > 10 {
			t.Fatalf("X never dies, queued %q", w.queued())
		}
		w.pass(30)
		if _, err := w.clean(req); err != nil && lake.KindOf(err) != lake.Partial {
			t.Fatal(err)
		}
		w.check()
	}
	if runs < 3 || w.blobs() != "Y" || w.queued() != "" {
		t.Errorf("%d runs, left %q, queued %q", runs, w.blobs(), w.queued())
	}
}

// RFC-100's keys of the cleaner reach the drain: with a dry run every blob is
// queued and judged, and none is deleted, and no more die in one run than may be
// judged, the oldest first.
func TestKeysOfTheCleanerReachTheDrain(t *testing.T) {
	for keys, left := range map[string]string{
		"":                                 "Y",
		"hoodie.cleaner.blob.dry.run=true": "W X Y",
		"hoodie.cleaner.blob.external.scan.max.candidates=1": "W Y",
		"hoodie.cleaner.blob.enabled=false":                  "W X Y",
	} {
		w := newBlobWorld(t, t)
		w.upload("W", "X", "Y")
		w.pass(72)
		for _, b := range []string{"X", "W", "Y", "Y"} {
			w.commit(map[string][]string{"1a": {b}})
			w.mustClean()
		}
		w.pass(30)
		w.put("keys", keys+"\n")
		req := w.request()
		req.Hudi.Config = w.path("keys")
		if r, err := w.clean(req); err != nil || w.blobs() != left {
			t.Errorf("%s: left %q, %+v, %v", keys, w.blobs(), r, err)
		}
	}
}

// --blob-min-age keeps a blob that is due and younger.
func TestMinAgeReachesTheDrain(t *testing.T) {
	for minAge, left := range map[time.Duration]string{0: "Y Z", 1000 * time.Hour: "X Y Z"} {
		w := expired(t)
		w.mustClean()
		w.pass(30)
		req := w.request()
		req.Hudi.Blobs.MinAge = &minAge
		if _, err := w.clean(req); err != nil || w.blobs() != left {
			t.Errorf("%s: left %q, %v", minAge, w.blobs(), err)
		}
	}
}
