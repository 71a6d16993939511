package drain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lakesweep/lakesweep/guard"
	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/plan"
	"github.com/lakesweep/lakesweep/reap"
	"github.com/lakesweep/lakesweep/reap/drain"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/mem"
	"github.com/lakesweep/lakesweep/table/hudi/blob"
	"github.com/lakesweep/lakesweep/table/hudi/blobqueue"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// fatal is what tests and rapid's share.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

const (
	grace       = 24 * time.Hour
	timelineDir = ".hoodie/timeline"
)

func tableRoot() lake.Root { return lake.Root{Scheme: "mem", Authority: "t", Path: "table"} }
func blobRoot() lake.Root  { return lake.Root{Scheme: "mem", Authority: "b", Path: "blobs"} }

// uri is the spelling of a blob.
func uri(name string) string { return "mem://b/blobs/" + name }

// dataFile is a base or log file: the table's files are known by what they refer to.
type dataFile struct {
	refs    []string
	instant string
}

// world is a table that refers to blobs, its writers and its clock. What the
// files refer to is known, so that every judgement can be checked.
type world struct {
	t            fatal
	table, blobs *mem.Store
	names        *lake.BlobNames
	temp         string

	mu        sync.Mutex
	now       time.Time
	serial    int
	files     map[string]dataFile
	done      map[string]bool // completed writes
	begun     map[string]bool // writes that are not complete
	locked    bool
	takenOver bool          // the lock, while it is held
	faults    *store.Faults // wraps all stores of the next drain; nil: none
	unread    error         // of the next judgements
}

func newWorld(t fatal, temp string, blobs ...string) *world {
	w := &world{t: t, temp: temp, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), files: map[string]dataFile{}, done: map[string]bool{}, begun: map[string]bool{}}
	clock := func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.now
	}
	w.table, w.blobs = mem.New(mem.Options{Now: clock}), mem.New(mem.Options{Now: clock})
	var err error
	if w.names, err = lake.NewBlobNames(lake.BlobOptions{Table: tableRoot(), Roots: []lake.Root{blobRoot()}}); err != nil {
		t.Fatal(err)
	}
	for _, b := range blobs {
		w.upload(b)
	}
	w.pass(72 * time.Hour)
	return w
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// instant returns a new one, later than all before.
func (w *world) instant() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Millisecond)
	return timeline.FormatTime(w.now, time.UTC)
}

func (w *world) upload(name string) {
	w.mu.Lock()
	w.serial++
	data := fmt.Sprint(name, w.serial)
	now := w.now
	w.mu.Unlock()
	w.blobs.Put(name, []byte(data), now)
}

func (w *world) there(name string) bool {
	w.t.Helper()
	_, err := w.blobs.Stat(context.Background(), name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return err == nil
}

// begin starts a write.
func (w *world) begin() string {
	at := w.instant()
	w.table.Put(timelineDir+"/"+at+".deltacommit.requested", nil, time.Time{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[at] = true
	return at
}

// put adds a file of a write that has begun.
func (w *world) put(at string, refs ...string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serial++
	name := fmt.Sprintf("f%d_%s", w.serial, at)
	w.files[name] = dataFile{refs, at}
	return name
}

// complete completes a write.
func (w *world) complete(at string) {
	end := w.instant()
	w.table.Put(timelineDir+"/"+at+"_"+end+".deltacommit", []byte("x"), time.Time{})
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.begun, at)
	w.done[at] = true
}

// write commits a file without asking anybody.
func (w *world) write(refs ...string) string {
	at := w.begin()
	name := w.put(at, refs...)
	w.complete(at)
	return name
}

// rollback takes a write back.
func (w *world) rollback(at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.begun, at)
	delete(w.done, at)
	maps.DeleteFunc(w.files, func(_ string, f dataFile) bool { return f.instant == at })
	if err := w.table.Remove(context.Background(), timelineDir+"/"+at+".deltacommit.requested", ""); err != nil {
		w.t.Fatal(err)
	}
}

// referenced returns every blob that a file refers to.
func (w *world) referenced() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]bool{}
	for _, f := range w.files {
		for _, r := range f.refs {
			out[r] = true
		}
	}
	return out
}

func (w *world) timeline(ctx context.Context) (*timeline.Timeline, error) {
	return timeline.Load(ctx, w.store(w.table), timelineDir, timeline.Layout2)
}

func (w *world) store(s store.Store) store.Store {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults == nil {
		return s
	}
	return w.faults.Wrap(s)
}

func (w *world) queue() *blobqueue.Queue {
	s := w.store(w.table)
	return blobqueue.New(s, store.Confine(s, ".hoodie"), func() string { return "part" + w.instant() }, blobqueue.Tuning{PartRows: 3})
}

// expire queues blobs as a clean does that is about to let their last
// reference go, and then lets the files go.
func (w *world) expire(names ...string) {
	w.t.Helper()
	w.mu.Lock()
	kept, gone := map[string]bool{}, map[string]bool{}
	for name, f := range w.files {
		for _, r := range f.refs {
			if slices.Contains(names, name) {
				gone[r] = true
			} else if w.done[f.instant] {
				kept[r] = true
			}
		}
	}
	w.mu.Unlock()
	at := w.instant()
	var entries []blobqueue.Entry
	for _, r := range slices.Sorted(maps.Keys(gone)) {
		if !kept[r] {
			entries = append(entries, blobqueue.Entry{Path: uri(r), Enqueued: at, Source: at, At: w.clock(), Size: -1})
		}
	}
	_, err := w.queue().Update(context.Background(), w.clock(), func(old *blobqueue.Snapshot) (iter.Seq2[blobqueue.Entry, error], blobqueue.Stats, error) {
		return blobqueue.Merge(old.Entries(context.Background()), func(yield func(blobqueue.Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}), blobqueue.Stats{}, nil
	})
	if err != nil {
		if w.faults != nil {
			return // the files stay then
		}
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		delete(w.files, name)
	}
}

func (w *world) queued() []string {
	w.t.Helper()
	snap, err := blobqueue.New(w.table, nil, nil, blobqueue.Tuning{}).Load(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for e, err := range snap.Entries(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, strings.TrimPrefix(e.Path, uri("")))
	}
	return out
}

// Acquire and the lease: the table's lock.
func (w *world) Acquire(context.Context) (lock.Lease, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked {
		return nil, &lake.Error{Op: "take lock", Kind: lake.Locked, Err: lock.ErrHeld}
	}
	w.locked = true
	return w, nil
}

func (w *world) Name() string { return "the world's" }

// Verify fails once somebody else took the lock over.
func (w *world) Verify(context.Context) error {
	if w.takenOver {
		return &lake.Error{Op: "renew lock", Kind: lake.Locked, Err: lock.ErrHeld}
	}
	return nil
}

func (w *world) Release(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked = false
	return nil
}

// judge is a drain.Judge that knows every reference.
type judge struct {
	w           *world
	done, begun map[string]bool
	after       func() // runs at the end of All: what happens while files are read
}

type round struct {
	committed, pending map[string]bool
	unread             error
}

func (r round) Unread() error { return r.unread }

func (r round) Of(id lake.BlobID) blob.Finding {
	switch {
	case r.committed[string(id)]:
		return blob.Finding{Fate: blob.Referenced}
	case r.unread != nil:
		return blob.Finding{Fate: blob.Undecided}
	case r.pending[string(id)]:
		return blob.Finding{Fate: blob.Pending}
	}
	return blob.Finding{Fate: blob.Unreferenced}
}

func (j *judge) look(only func(f dataFile) bool) round {
	r := round{map[string]bool{}, map[string]bool{}, j.w.unread}
	for _, f := range j.w.files {
		if !only(f) {
			continue
		}
		to := r.pending
		if j.w.done[f.instant] {
			to = r.committed
		}
		for _, ref := range f.refs {
			to[uri(ref)] = true
		}
	}
	return r
}

func (j *judge) All(context.Context, drain.Candidates) (drain.Round, error) {
	j.w.mu.Lock()
	j.done, j.begun = maps.Clone(j.w.done), maps.Clone(j.w.begun)
	r := j.look(func(dataFile) bool { return true })
	j.w.mu.Unlock()
	if j.after != nil {
		j.after()
	}
	return r, nil
}

func (j *judge) Since(context.Context, drain.Candidates) (drain.Round, bool, error) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	began, fresh := false, false
	for at := range j.w.begun {
		began = began || !j.begun[at]
	}
	for at := range j.w.done {
		fresh = fresh || !j.done[at]
	}
	if !fresh {
		return nil, began, nil
	}
	before := j.done
	j.done = maps.Clone(j.w.done)
	return j.look(func(f dataFile) bool { return j.w.done[f.instant] && !before[f.instant] }), began, nil
}

func (j *judge) InFlight(context.Context, drain.Candidates) (drain.Round, error) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	return j.look(func(f dataFile) bool { return !j.w.done[f.instant] }), nil
}

// memoryLog is a journal's log in memory.
type memoryLog struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (l *memoryLog) Append(_ context.Context, lines []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.lines.Write(lines)
	return err
}

func (l *memoryLog) Read(_ context.Context, yield func([]byte, error) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines.Len() == 0 {
		yield(nil, fs.ErrNotExist)
		return
	}
	yield(bytes.Clone(l.lines.Bytes()), nil)
}

func (l *memoryLog) Place() string { return "memory" }

// cleared is a plan that lists blobs.
func (w *world) cleared(listed []string) guard.Cleared {
	w.t.Helper()
	h := filelist.Head{PlanID: "plan" + w.instant(), Table: tableRoot().String(), Given: "t", TableID: "id", Format: "hudi", Created: w.clock(), Mode: "KEEP_LATEST_COMMITS",
		Totals:   filelist.Totals{ByReason: map[string]filelist.Count{}, Candidates: int64(len(listed)), Dead: int64(len(listed))},
		Evidence: filelist.Evidence{Listed: true, LiveExpected: 1000, LiveSeen: 1000, LiveFiles: 1000}}
	if len(listed) > 0 {
		h.Totals.ByReason[string(lake.ExpiredBlob)] = filelist.Count{Objects: int64(len(listed))}
	}
	var err error
	if h.Guards, err = guard.Check(h, guard.Options{}); err != nil {
		w.t.Fatal(err)
	}
	p, err := plan.Hold(context.Background(), h, func(yield func(lake.Verdict, error) bool) {
		for _, name := range listed {
			if !yield(lake.Verdict{URI: uri(name), Size: -1, Reason: lake.ExpiredBlob}, nil) {
				return
			}
		}
	}, func() error { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := guard.Clear(p, guard.Identity{Root: tableRoot(), Format: "hudi", TableID: "id"})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// job drains all that is queued now.
func (w *world) job() (drain.Job, drain.Options) {
	w.t.Helper()
	return w.jobOf(w.queued())
}

func (w *world) jobOf(listed []string) (drain.Job, drain.Options) {
	w.t.Helper()
	table, blobs := w.store(w.table), w.store(w.blobs)
	cleared := w.cleared(listed)
	journal, err := filelist.OpenJournal(context.Background(), &memoryLog{}, filelist.JournalHead{PlanID: cleared.Plan().Head().PlanID, Table: tableRoot().String()})
	if err != nil {
		w.t.Fatal(err)
	}
	job := drain.Job{Cleared: cleared, Table: table, Writer: store.Confine(table, ".hoodie"), Queue: w.queue(), Judge: &judge{w: w}, Names: w.names, Lock: w, Journal: journal,
		Open: func(_ context.Context, place lake.Root) (reap.Place, string, error) {
			name, ok := strings.CutPrefix(place.Path, blobRoot().Path+"/")
			if !ok || place.Authority != "b" {
				return nil, "", fmt.Errorf("%s is opened", place)
			}
			return blobs, name, nil
		},
		Fence: func(ctx context.Context) (string, error) {
			t, err := w.timeline(ctx)
			if err != nil {
				return "", err
			}
			return blobqueue.EarliestWrite(t), nil
		},
		Instant: func(context.Context) (string, error) { return w.instant(), nil },
	}
	return job, drain.Options{Grace: grace, MinAge: time.Hour, Now: w.clock, Reap: reap.Options{Workers: 2, BatchSize: 2, RefreshEvery: time.Nanosecond}}
}

// drain drains everything and wants no error.
func (w *world) drain() drain.Result {
	w.t.Helper()
	job, o := w.job()
	r, err := drain.Run(context.Background(), job, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// left returns which of the blobs are there.
func (w *world) left(names ...string) string {
	var out []string
	for _, n := range names {
		if w.there(n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

func mustTimeline(w *world) *timeline.Timeline {
	t, err := timeline.Load(context.Background(), w.table, timelineDir, timeline.Layout2)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// spelledAnyhow is asked about paths, however they are spelled.
func spelledAnyhow(has func(string) bool) func(blobqueue.Spelling) (func(string) bool, error) {
	return func(blobqueue.Spelling) (func(string) bool, error) { return has, nil }
}
