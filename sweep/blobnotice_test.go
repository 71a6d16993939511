package sweep

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/store"
	. "github.com/lakesweep/lakesweep/table/hudi/blobtest"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// recorded notes every call that reaches a store: what it is, of which name and range.
type recorded struct {
	store.Store
	mu    *sync.Mutex
	calls *[]string
}

func (r recorded) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.calls = append(*r.calls, fmt.Sprintf(format, args...))
}

func (r recorded) Stat(ctx context.Context, name string) (store.Info, error) {
	r.note("stat %s", name)
	return r.Store.Stat(ctx, name)
}

func (r recorded) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r.note("open %s %d %d", name, offset, length)
	return r.Store.Open(ctx, name, offset, length)
}

func (r recorded) List(ctx context.Context, req store.PageRequest) (store.Page, error) {
	r.note("list %+v", req)
	return r.Store.List(ctx, req)
}

func (r recorded) Status(ctx context.Context) (store.Status, error) {
	r.note("status")
	return r.Store.Status(ctx)
}

func (r recorded) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	r.note("put %s", name)
	return r.Store.PutIfAbsent(ctx, name, data)
}

func (r recorded) Replace(ctx context.Context, name string, data []byte, ifMatch string) (string, error) {
	r.note("replace %s", name)
	return r.Store.Replace(ctx, name, data, ifMatch)
}

// record returns the calls that planning makes, sorted.
func (w *plannedWorld) record(change func(*PlanRequest)) []string {
	w.t.Helper()
	calls := []string{}
	var mu sync.Mutex
	e := w.engine()
	e.Stores = store.Registry{Classes: map[string]store.OpenFunc{"mem": func(ctx context.Context, root lake.Root) (store.Store, error) {
		s, err := w.open(ctx, root)
		return recorded{s, &mu, &calls}, err
	}}}
	req := PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}}
	change(&req)
	p, err := e.Plan(w.t.Context(), req, "")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		w.t.Error(err)
	}
	slices.Sort(calls)
	return calls
}

func count(calls []string, call string) (n int) {
	for _, c := range calls {
		if c == call {
			n++
		}
	}
	return n
}

// cleaned carries out a clean that leaves blobs alone.
func (w *plannedWorld) cleaned(h HudiRequest) {
	w.t.Helper()
	h.NoOtherWriters = true
	e := w.engine()
	p, err := e.Plan(w.t.Context(), PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: h}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a temporary file
	if r, err := e.Apply(w.t.Context(), p, ApplyRequest{Journal: "mem://journals/j"}, nil); err != nil || r.Deleted == 0 {
		w.t.Fatalf("%+v, %v", r, err)
	}
}

// R6, B149: planning the clean of a table without blob columns makes the same
// requests, to the byte, whatever --blobs says, and lists no blob.
func TestTablesWithoutBlobsPayNothing(t *testing.T) {
	plain := strings.ReplaceAll(Schema, `"logicalType":"blob",`, "")
	write := func(w *plannedWorld, names ...string) {
		if w.typ == "MERGE_ON_READ" {
			w.Delta(g{"p=1/a": m(names...), "p=2/b": nil})
		}
		w.Commit(g{"p=1/a": m(names...)})
	}
	policies := map[string]HudiRequest{"latest-commits": {RetainCommits: 1}, "latest-hours": {RetainHours: 1}, "latest-versions": {RetainVersions: 1}}
	written := map[string]func(w *plannedWorld, h HudiRequest){
		"no commit":  func(*plannedWorld, HudiRequest) {},
		"one commit": func(w *plannedWorld, _ HudiRequest) { write(w, "x") },
		"no clean before": func(w *plannedWorld, _ HudiRequest) {
			for range 3 {
				write(w, "x")
			}
		},
		"a clean before": func(w *plannedWorld, h HudiRequest) {
			for range 3 {
				write(w, "x")
			}
			w.cleaned(h)
			for range 3 {
				write(w, "x")
			}
		},
		"nothing new": func(w *plannedWorld, h HudiRequest) {
			for range 3 {
				write(w, "x")
			}
			w.cleaned(h)
		},
		"a replace commit last": func(w *plannedWorld, _ HudiRequest) {
			for range 3 {
				write(w, "x")
			}
			at := w.Begin(timeline.ReplaceCommit)
			w.Base(at, "p=1", "c")
			w.Complete(at, timeline.ReplaceCommit, map[string][]string{"p=1": {"a"}})
		},
		"no schema in the last commits": func(w *plannedWorld, _ HudiRequest) {
			for range 3 {
				write(w, "x")
			}
			schema := w.Schema
			w.Schema = ""
			write(w, "x")
			write(w, "x")
			w.Schema = schema
		},
		"a write and a clean in flight": func(w *plannedWorld, _ HudiRequest) {
			for range 3 {
				write(w, "x")
			}
			w.Begin(timeline.Commit)
			w.Begin(timeline.Clean)
		},
	}
	modes := map[string]func(*BlobRequest){
		"off":    func(b *BlobRequest) { b.Mode = "off" },
		"plan":   func(b *BlobRequest) { b.Mode, b.Roots = "plan", []lake.Root{{Scheme: "mem", Authority: "media"}} },
		"delete": func(b *BlobRequest) { b.Mode, b.Roots = "delete", []lake.Root{{Scheme: "mem", Authority: "media"}} },
	}
	for _, version := range []string{"6", "8", "9"} {
		for _, typ := range []string{"COPY_ON_WRITE", "MERGE_ON_READ"} {
			for policy, h := range policies {
				for name, history := range written {
					t.Run(fmt.Sprintf("version %s, %s, %s, %s", version, typ, policy, name), func(t *testing.T) {
						w := newPlannedWorldOf(t, version, typ)
						w.Schema = plain
						history(w, h)
						names := w.store.Names()
						without := w.record(func(r *PlanRequest) { r.Hudi = h })
						for _, call := range slices.Compact(slices.Clone(without)) {
							if n := count(without, call); n > 1 && strings.Contains(call, "commit ") {
								t.Errorf("%d times %s", n, call)
							}
						}
						for mode, set := range modes {
							with := w.record(func(r *PlanRequest) { r.Hudi = h; set(&r.Hudi.Blobs) })
							if diff := cmp.Diff(without, with); diff != "" {
								t.Errorf("--blobs %s makes other requests than none (-, +):\n%s", mode, diff)
							}
						}
						if !slices.Equal(names, w.store.Names()) {
							t.Error("planning wrote to the table")
						}
					})
				}
			}
		}
	}
}

// unqueued is what the guard of blobs that no queue remembers says, "" for nothing.
func unqueued(t *testing.T, h filelist.Head) string {
	t.Helper()
	for _, g := range h.Guards {
		if g.Code != "blobs_unqueued" {
			continue
		}
		if g.Outcome != filelist.Warned || !strings.Contains(g.Fix, "--blobs delete") || !strings.Contains(g.Fix, "--blobs off") {
			t.Errorf("%+v", g)
		}
		return g.Detail
	}
	return ""
}

// A clean that wasn't asked about blobs and lets the last references to some go
// says so, unless it was said that they are to stay.
func TestBlobsThatNoQueueRemembersAreTold(t *testing.T) {
	config := func(w *plannedWorld) string {
		w.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\nhoodie.cleaner.blob.enabled=false\n"), w.Now)
		return ""
	}
	bootstrapped := func(w *plannedWorld) string {
		w.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=small\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.timeline.timezone=UTC\nhoodie.table.partition.fields=p\nhoodie.bootstrap.base.path=/src\n"), w.Now)
		return ""
	}
	none := func(*plannedWorld) string { return "" }
	for name, c := range map[string]struct {
		schema  string
		commits int
		before  func(*plannedWorld) string
		mode    string
		want    string
	}{
		"not asked":                    {Schema, 3, none, "", "img, other, st.b"},
		"--blobs off":                  {Schema, 3, none, "off", ""},
		"--blobs plan shows them":      {Schema, 3, none, "plan", ""},
		"--blobs delete queues them":   {Schema, 3, none, "delete", ""},
		"switched off by Hudi's key":   {Schema, 3, config, "", ""},
		"no slice goes":                {Schema, 2, none, "", ""},
		"no column refers to blobs":    {strings.ReplaceAll(Schema, `"logicalType":"blob",`, ""), 3, none, "", ""},
		"a table that --blobs refuses": {Schema, 3, bootstrapped, "", "img, other, st.b"},
		"a schema that can't be read":  {"{", 3, none, "", ""},
		"a replace commit was the newest": {Schema, 3, func(w *plannedWorld) string {
			at := w.Begin(timeline.ReplaceCommit)
			w.Base(at, "p=1", "c")
			w.Complete(at, timeline.ReplaceCommit, map[string][]string{"p=1": {"a"}})
			return ""
		}, "", "img, other, st.b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlannedWorld(t, "COPY_ON_WRITE")
			w.Schema = c.schema
			for range c.commits {
				w.Commit(g{"p=1/a": m("x"), "p=2/b": m("y")})
			}
			c.before(w)
			_, h := w.plan(func(r *PlanRequest) { r.Hudi.Blobs.Mode = c.mode })
			if got := unqueued(t, h); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			note := slices.ContainsFunc(h.Evidence.Warnings, func(s string) bool { return strings.Contains(s, "can't be told") })
			if note != (c.schema == "{") {
				t.Errorf("%q", h.Evidence.Warnings)
			}
		})
	}
}

// A plan whose newest schema can't be read is made all the same, and with
// --blobs refused: what is said of a doubt there must not stop a plain clean.
func TestUnreadableSchemaStopsNoPlainClean(t *testing.T) {
	w := newPlannedWorld(t, "COPY_ON_WRITE")
	for range 3 {
		w.Commit(g{"p=1/a": m("x")})
	}
	w.Now = w.Now.Add(time.Hour)
	at := timeline.FormatTime(w.Now, time.UTC)
	w.store.Put(".hoodie/timeline/"+timeline.Name(timeline.Layout2, at, timeline.Commit, timeline.Completed, at), []byte("torn"), w.Now)
	if _, h := w.plan(func(r *PlanRequest) { r.Hudi.Blobs.Mode = "" }); h.Totals.Dead != 2 {
		t.Errorf("%+v", h.Totals)
	}
	req := PlanRequest{Table: blobTable, Unsafe: Unsafe{MostlyDead: blobTable}, Hudi: HudiRequest{RetainCommits: 1, Blobs: BlobRequest{Mode: "plan", Roots: []lake.Root{{Scheme: "s3", Authority: "media"}}}}}
	if _, err := w.engine().Plan(t.Context(), req, ""); lake.KindOf(err) != lake.Damaged {
		t.Errorf("%v", err)
	}
}
